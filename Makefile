# Two commands do everything on a fresh Debian 12:
#   make demo     hashes a directory tree on the best device here and compares it with hashlib
#   make test     builds, runs every test, and checks formats
# Each brings in what is missing, builds what changed, and is quick when nothing did. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.ONESHELL:

JOBS ?= $(shell nproc)
DIR ?=
PYTHONS ?=
HOME_URL ?=
PYTEST ?=
BENCH ?=
MUTATION ?=
UNITY ?= OFF
BUILD := build/dev
BENCH_BUILD := build/bench
# A tree that developers build has the module already; for a visitor its sources are compiled together, which takes a quarter of the time.
MODULE_BUILD := $(if $(wildcard $(BUILD)/build.ninja),$(BUILD),build/module)

.PHONY: demo module test test-slow slow-tests release test-mutation test-sanitize coverage bench bench-record dist docs tables format lint build packages clean help

demo: module ## Hash a directory tree and compare with hashlib (DIR=... chooses it)
	@. .ci/env
	python -m vyre.demo $(DIR)

test: build ## Every test, and the checks of format and style
	@. .ci/env
	ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)
	# A test that hangs ends its process, which is named: the way `signal` would not end one in native code.
	python -m pytest -n $(JOBS) --timeout 300 --timeout-method thread -o faulthandler_timeout=0 $(PYTEST)
	.ci/lint

test-slow: build ## What takes too long for every change: scale programs on drivers, clang-tidy over all sources, a build without SPIR-V, fuzzing, the site
	@.ci/gates --again slow-tests clang-tidy without-spirv site fuzzing

slow-tests: build
	@.ci/setup packages-slow interop vectors
	. .ci/env
	# Thousands of programs on a driver are one test: hours may pass before silence means a hang.
	python -m pytest -m 'slow or vyre_slow' -o faulthandler_timeout=14400 $(PYTEST)

release: ## Every gate of a release that has not passed on these sources, and the record of each in docs/release.md
	@.ci/gates

test-mutation: .venv/ready packages build/swiftshader/vk_swiftshader_icd.json ## Break the sources on purpose, one fault at a time: tests must notice each (MUTATION=... are options)
	@. .ci/env
	python tests/mutation/gate.py -j $(JOBS) $(MUTATION)

test-sanitize: build ## The C++ tests, and the Python module's, under sanitizers: address, undefined behaviour, leaks, threads
	@.ci/sanitize

coverage: .venv/ready packages build/swiftshader/vk_swiftshader_icd.json ## Which lines of cpp/ the tests run; less than 90 % fails
	@.ci/coverage

bench: module ## Measure beside what users would pick instead, and print one table (BENCH=--write keeps it in bench/README.md); draws bench/results
	@.ci/setup packages-bench peers
	. .ci/env
	cmake -S . -B $(BENCH_BUILD) -G Ninja -DVYRE_BENCH=ON -DVYRE_TESTS=OFF >/dev/null
	cmake --build $(BENCH_BUILD) -j $(JOBS)
	python bench/table.py $(BENCH)
	python bench/pictures.py

bench-record: build ## Write the record of instruction counts anew, which the guard in `make test` compares with
	@cmake --build $(BUILD) --target vyre_counts_record

dist: .venv/ready packages ## What is published, built and tested, in dist/: the sdist, a wheel for each CPython here (PYTHONS="3.10 3.12" chooses, HOME_URL=... is linked to)
	@.ci/setup dist
	. .ci/env
	python .ci/dist $(if $(HOME_URL),--home $(HOME_URL)) $(PYTHONS)

docs: module ## The documentation site, in build/docs/html: a warning fails
	@.ci/site

tables: module ## Write what is derived from the tables: the Python stub, the reference page, the lock of the conformance cases
	@. .ci/env
	python tests/py/tables.py

format: .venv/ready packages ## Format every file
	@.ci/lint --fix

lint: .venv/ready packages ## Check formats and style alone
	@.ci/lint

build: $(BUILD)/build.ninja build/swiftshader/vk_swiftshader_icd.json ## Build the libraries, the tests and the Python module (UNITY=ON: a first build in less time)
	@cmake --build $(BUILD) -j $(JOBS)

module: $(MODULE_BUILD)/build.ninja build/swiftshader/vk_swiftshader_icd.json ## Build the Python module alone, without the tests
	@cmake --build $(MODULE_BUILD) -j $(JOBS) --target _core

packages: ## Install the Debian packages that are missing
	@.ci/setup packages

.venv/ready: pyproject.toml .ci/setup | packages
	@.ci/setup venv

build/swiftshader/vk_swiftshader_icd.json: | packages
	@.ci/setup swiftshader

# Anew when .venv is: CMake remembers which Python it found.
$(BUILD)/build.ninja: OPTIONS := -DVYRE_UNITY=$(UNITY)
build/module/build.ninja: OPTIONS := -DVYRE_UNITY=ON -DVYRE_TESTS=OFF
$(BUILD)/build.ninja build/module/build.ninja: .venv/ready | packages
	@mkdir -p build
	echo "setup: configuring $(@D)"
	cmake --fresh -S . -B $(@D) -G Ninja -DVYRE_PYTHON=ON -DVYRE_PYTHON_INPLACE=ON -DPython_EXECUTABLE=$(CURDIR)/.venv/bin/python $(OPTIONS) >$(@D).log ||
	  { cat $(@D).log; exit 1; }
	touch $@

clean: ## Remove what was built (SwiftShader and .venv stay)
	rm -rf $(BUILD) $(BUILD).log $(BENCH_BUILD) build/{module,sanitize,coverage,without-spirv,fuzz,mutation,dist,docs}* dist python/vyre/_core.so

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
