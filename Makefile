# Front doors. Each does its whole set-up: missing Debian packages are installed (as root or through
# sudo; otherwise they are named), programs are built, then run.

BUILD  ?= build
JOBS   ?= $(shell nproc)
LAUNCH := $(if $(shell command -v ccache 2>/dev/null),-DCMAKE_C_COMPILER_LAUNCHER=ccache,)
CTEST  := ctest --no-tests=error --output-on-failure -j $(JOBS)

.PHONY: all demo test third-party bench bench-peers install-deps install-test-deps quick sanitize clang fuzz lint clean help

all: install-deps ## build the programs into build/bin
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(LAUNCH) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@[ -x $(BUILD)/bin/writ ] || echo "building $(BUILD)/bin: one to a few minutes the first time"
	@ninja -C $(BUILD) --quiet

demo: all ## a walk through the main cases on the terminal
	@tests/lib/unprivileged $(BUILD)/bin examples -- sh tests/demo.sh

test: install-test-deps all sanitize clang third-party ## everything: unit, end to end, sanitizers, both compilers
	$(CTEST) --test-dir $(BUILD)
	$(CTEST) --test-dir $(BUILD)-san
	@echo "all tests passed: release build (gcc), sanitizer build (gcc), compile with clang"

third-party: tests/node/node_modules ## npm packages that are clients in tests

tests/node/node_modules: tests/node/package-lock.json
	@cd tests/node && npm ci --silent --no-audit --no-fund
	@touch $@

quick: all ## unit and end-to-end tests of the release build only
	$(CTEST) --test-dir $(BUILD)

sanitize:
	@cmake -S . -B $(BUILD)-san -G Ninja -DCMAKE_BUILD_TYPE=Sanitize $(LAUNCH) >/dev/null
	@ninja -C $(BUILD)-san --quiet

clang:
	@CC=clang cmake -S . -B $(BUILD)-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug $(LAUNCH) >/dev/null
	@ninja -C $(BUILD)-clang --quiet

bench-peers: ## other policy engines, for make bench to compare with
	@cd tests/bench/node && npm ci --silent --no-audit --no-fund

bench: all ## measure; writes build/bench.json and prints the table
	@WRIT_PEERS=$(abspath tests/bench/node) WRIT_TESTS=$(abspath $(BUILD))/tests WRIT_KEEP=bench.json:$(abspath $(BUILD))/bench.json tests/lib/unprivileged $(BUILD)/bin examples -- sh tests/bench/run.sh

install-deps: ## what building needs
	@tests/lib/packages build

install-test-deps:
	@tests/lib/packages build test

lint: ## formatting and local rules
	@tests/lint.sh

clean:
	rm -rf $(BUILD) $(BUILD)-san $(BUILD)-clang $(BUILD)-fuzz

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
