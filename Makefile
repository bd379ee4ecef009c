# The front door. CMake does the work (CMakePresets.json); tools/packages sees to the packages that a target needs.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.PHONY: build demo test test-long fuzz bench coverage lint format install clean help

build: ## the library and the program: build/vidi, build/libvidi.a, build/libvidi.so
	@tools/packages build
	@cmake --preset release >/dev/null
	@cmake --build --preset release

demo: build ## shows the main job on links that it makes up
	@tools/packages demo
	@tools/demo.sh

test: ## builds and runs all tests, also under the sanitizers
	@tools/packages test
	@tools/test.sh

test-long: ## the same with ten times the URLs and all of VIDI_TESTDATA
	@tools/packages test-long
	@tools/test.sh long

fuzz: ## fuzzes each target for FUZZ_SECONDS (60)
	@tools/packages fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

bench: ## measures against peers: build/bench.json
	@tools/packages bench
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target benchmarks
	@build/bench/vidi-bench > build/bench.json.part
	@mv build/bench.json.part build/bench.json

coverage: ## which lines of lib/ the tests run; fails below 95 %
	@tools/packages coverage
	@tools/coverage.sh

lint: ## layout, clang-tidy, cppcheck, and a build in which warnings are errors
	@tools/packages lint
	@tools/lint.sh

format: ## lays out all C files as .clang-format says
	@tools/packages format
	@tools/lint.sh format

install: build ## installs below PREFIX (/usr/local), DESTDIR before it
	@tools/packages install
	@cmake --install build --prefix "$(PREFIX)"

clean: ## removes build/
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
