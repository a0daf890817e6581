# What a Makefile needs of the network: sources to compile with these flags, libraries to link.
{{name}}_folder := $(dir $(lastword $(MAKEFILE_LIST)))
{{name}}_sources := $(addprefix $({{name}}_folder),{{#sources}} {{file}}{{/sources}})
{{name}}_cflags := -I$({{name}}_folder){{headers}}
{{name}}_libs := -lm
