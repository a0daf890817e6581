# What a Makefile needs of the network: sources to compile with these flags, libraries to link.
tiny_cnn_folder := $(dir $(lastword $(MAKEFILE_LIST)))
tiny_cnn_sources := $(addprefix $(tiny_cnn_folder), src/tiny_cnn.c src/tiny_cnn_weights.c)
tiny_cnn_cflags := -I$(tiny_cnn_folder)include
tiny_cnn_libs := -lm
