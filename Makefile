# Short commands for every task. CMake does the work (CMakePresets.json), and tools/packages installs the packages that
# a target needs and the machine lacks; with VIDI_INSTALL=no it only names them.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Numbers of URLs that `make bench` measures, and where it puts the plots: `make bench BENCH=1e6,1e7 BENCH_PLOTS=docs`.
BENCH ?= 1e6,1e7,1e8
BENCH_PLOTS ?= build
# Where `make bench` creates sets that live in a folder, so which disk it measures.
BENCH_FOLDER ?= build
# Options of `make bench-threads`, such as BENCH_THREADS="--sizes 1e8 --threads 1,2".
BENCH_THREADS ?=
BILLION ?= 1e9
BENCH_LINES ?= 5e6
# Numbers of URLs that `make bench-python` adds, with commas between them.
BENCH_PYTHON ?= 1e4,1e6,1e7
# URLs that `make bench-redis` sends to the module for Redis and Valkey, several sizes with commas between them.
BENCH_REDIS ?= 1e6
# Pages of the site that the crawlers visit.
BENCH_PAGES ?= 20000
# URLs of the large filters that `make lab-large` measures.
LAB_LARGE ?= 1e8
# Seeds that `make lab-seeds` compares, and options of `vidi lab claims`.
LAB_SEEDS ?= 1 2 3 4 5
LAB_SEEDS_OPTIONS ?= --urls 1e6 --runs 100
# Processes of the crawl that `make fleet-simulation` computes.
FLEET_MEMBERS ?= 100
# Options of `vidi lab report` for `make lab-report`, such as LAB="--runs 3" for a trial.
LAB ?=

.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.PHONY: build python demo test test-long test-arm64 fuzz bench bench-build bench-quick bench-stream bench-crawl bench-redis \
	bench-python bench-threads bench-threads-static bench-billion bench-peers fleet-simulation lab-report lab-large lab-seeds coverage \
	lint analyze ci format completions abi install clean help

build: ## builds the library and the program: build/vidi, build/libvidi.a, build/libvidi.so, build/libvidi-cluster.so, build/redisvidi.so
	@tools/packages build
	@tools/build.sh release
	@echo "built build/vidi, build/vidi-lab, build/libvidi.a, build/libvidi.so, build/libvidi-cluster.so, build/redisvidi.so"

python: ## builds the Python package: build/python/vidi-*.whl, which `pip install` takes
	@tools/packages python
	@tools/build.sh release --target vidi_python_wheel
	@echo "built $$(ls build/python/*.whl)"

demo: build ## shows the main job on synthetic links, crawls a small local site, and shares a set if redis-server is installed
	@tools/packages demo
	@tools/build.sh release --target vidi_site_server
	@tools/demo.sh

test: ## builds and runs all tests, also under sanitizers
	@tools/packages test
	@tools/test.sh

test-long: ## runs the tests with ten times the URLs and all of VIDI_TESTDATA
	@tools/packages test-long
	@tools/packages arm64 || echo "make test-long continues without arm64" >&2
	@tools/test.sh long

test-arm64: ## builds the library for arm64 and runs the tests of its kernels under qemu
	@tools/packages test
	@tools/packages arm64
	@tools/arm64.sh

fuzz: ## fuzzes each target for FUZZ_SECONDS (60)
	@tools/packages fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

# If the peers' packages cannot be installed, the benchmark uses the peers that are there.
bench-build:
	@tools/packages build
	@tools/packages bench || echo "make bench continues with the peers that are installed" >&2
	@cmake --preset release -DVIDI_BENCH_PEERS=ON | grep '^-- Benchmark' >&2 || true
	@tools/build.sh release --target benchmarks

bench: bench-build ## compares vidi with peers and the memory's limit: build/bench.json; BENCH=1e6 is quicker
	@build/bench/vidi-bench --sizes $(BENCH) --guava bench/peers/Guava.java --node bench/url.mjs --json build/bench.json \
		--plots $(BENCH_PLOTS) --folder $(BENCH_FOLDER)
	@$(MAKE) bench-threads
	@bench/stream.sh build $(BENCH_LINES)
	@bench/crawl/crawl.sh build $(BENCH_PAGES) 3 $(BENCH_FOLDER)
	@bench/redis/redis.sh build $(BENCH_REDIS)
	@bench/python/python.sh build $(BENCH_PYTHON)

bench-python: bench-build ## compares the Python package with Python's own set and with Scrapy's dupe filter
	@bench/python/python.sh build $(BENCH_PYTHON)

bench-redis: bench-build ## measures the module for Redis; BENCH_REDIS=1e7 takes some minutes
	@bench/redis/redis.sh build $(BENCH_REDIS)

fleet-simulation: ## computes how a crawl by many machines shares sites, hands them over and sends links; FLEET_MEMBERS=100
	@tools/packages build
	@tools/build.sh release --target vidi_fleet_simulation
	@build/bench/vidi-fleet-simulation $(FLEET_MEMBERS) </dev/null

bench-stream: bench-build ## compares the program with sort, awk, perl and others; BENCH_LINES=20e6 takes longer
	@bench/stream.sh build $(BENCH_LINES)

bench-crawl: bench-build ## compares vidi crawl with wget, wget2 and Scrapy on local sites; BENCH_PAGES=2000 is quick
	@bench/crawl/crawl.sh build $(BENCH_PAGES) 3 $(BENCH_FOLDER)

bench-quick: bench-build ## measures the main ratios at a million URLs, in under a minute: build/bench-quick.json
	@build/bench/vidi-bench --quick --sizes 1e6 --node bench/url.mjs --json build/bench-quick.json \
		--folder $(BENCH_FOLDER)

bench-threads: ## measures 1, 2, 4 and more threads on one set, beside a lock-free table of hashes; takes some minutes
	@tools/packages build
	@tools/build.sh release --target vidi_bench_threads
	@build/bench/vidi-bench-threads --folder $(BENCH_FOLDER) --json build/bench-threads.json $(BENCH_THREADS)
	@bench/add_rows.sh build/bench.json '[^"]*, [0-9]* threads*' <build/bench-threads.json

bench-threads-static: ## builds it, and the program, for machines without packages: build/bench-threads-static
	@tools/packages build
	@tools/build.sh static --target vidi vidi_lines vidi_bench_threads
	@mkdir -p build/bench-threads-static
	@cp build/static/vidi build/static/bench/vidi-lines build/static/bench/vidi-bench-threads \
		bench/threads/on_many_cores.sh build/bench-threads-static
	@echo "built build/bench-threads-static; copy it to the machine and run on_many_cores.sh there"

bench-billion: bench-build ## adds a billion URLs to one set: needs 24 GiB of memory and some minutes; try BILLION=1e7 first
	@build/bench/vidi-billion $(BILLION)
	@build/bench/vidi-billion $(BILLION) populated

bench-peers: ## compares the lab's versions of other filters with public ones; the lab shows times of those that pass
	@tools/packages bench-peers || echo "make bench-peers continues with the packages that are installed" >&2
	@cmake --preset release -DVIDI_BENCH_PEERS=ON >/dev/null
	@tools/build.sh release --target vidi_peer_times
	@bench/peers/compare_peers.sh build lab/peers/compared.inc

lab-report: build ## runs the whole lab: writes build/lab/index.html, docs/lab and docs/LAB.md; takes about half an hour
	@tools/packages lab-report
	@tools/lab_report.sh build/vidi $(LAB)

lab-large: build ## measures filters of 1e8 URLs three times: 3 GB of memory, half an hour; LAB_LARGE=1e7 is quicker
	@build/vidi lab run 'large-*' --urls $(LAB_LARGE) --runs 3

lab-seeds: build ## judges all claims with five seeds; fails if one holds with a seed and not with another; takes hours
	@VIDI_LAB_SEEDS="$(LAB_SEEDS)" VIDI_LAB_OPTIONS="$(LAB_SEEDS_OPTIONS)" tests/lab/engine/seeds.sh

coverage: ## shows which lines of lib/ the tests run; fails below 95 %
	@tools/packages coverage
	@tools/coverage.sh

lint: ## checks formatting, clang-tidy, cppcheck, shellcheck, pyflakes, mypy, and a build with warnings as errors
	@tools/packages lint
	@tools/lint.sh

analyze: ## runs clang's analyzer on lib, fleet, cli, lab, crawler, redis and python; takes some minutes
	@tools/packages lint
	@tools/lint.sh analyze

ci: ## runs make test and make lint with one summary, as continuous integration does
	@tools/packages test
	@tools/packages lint
	@tools/test.sh ci

format: ## formats all C files with clang-format
	@tools/packages format
	@tools/lint.sh format

completions: build ## writes completions/ again, from the help texts
	@tools/completions.sh build/vidi completions

abi: ## rewrites tests/data/abi, the binary interfaces that the tests compare with
	@tools/packages test
	@mkdir -p tests/data/abi
	@tools/abi.sh include/vidi/vidi.h include/vidi/url.h include/vidi/transfer.h tests/data/abi/vidi.abi
	@tools/abi.sh --types include/vidi/vidi.h include/vidi/cluster.h tests/data/abi/vidi-cluster.abi

install: build ## installs into PREFIX (/usr/local), below DESTDIR if it is set
	@tools/packages install
	@cmake --install build --prefix "$(PREFIX)" >build/install.log || { cat build/install.log >&2; exit 1; }
	@tools/after_install.sh "$(DESTDIR)" "$(PREFIX)"

clean: ## removes build/
	@rm -rf build

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
