# What the examples have in common. ARENAC: the tool; CC and CFLAGS as ever; DEFINES: macros of an example; `make run` builds
# and runs.
ARENAC ?= arenac
CFLAGS ?= -O2
MODELS := ../../models
app: main.c $(SOURCES)
	$(CC) -std=c99 $(CFLAGS) $(DEFINES) -Igenerated main.c $(SOURCES) -lm -o $@
run: app
	./app
clean:
	rm -rf app generated
.PHONY: run clean
.DEFAULT_GOAL := app
