# SPDX-License-Identifier: MIT
# The names here are what CI, the README and users rely on; the work is in CMake and scripts/.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
PRESET ?= release

.PHONY: all demo test test-user test-kernel bench lint install clean deps-build deps-demo deps-test deps-bench deps-kernel help

all: ## build everything user-space into build/
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) -j$(JOBS)

demo: deps-demo all ## the main job on real input: SQLite, traced
	examples/sqlite/demo.sh

test: deps-test all ## every test
	scripts/test.sh

test-user: deps-test all ## the user-space tests alone
	ctest --preset release -j$(JOBS)

test-kernel: deps-kernel all ## hooks and transports in the kernel, in QEMU
	tests/kernel/run.sh
	tests/kernel/transport_stress.sh
	tests/kernel/pass.sh clang-19
	tests/kernel/pass.sh clang-16

bench: deps-bench all ## build/bench/user.json
	tests/bench/run.sh

lint: deps-test ## formatting, static analysis, licences, spelling
	scripts/lint.sh

install: ## DESTDIR= PREFIX=
	cmake --install build --prefix $(PREFIX)

deps-build deps-demo deps-test deps-bench deps-kernel:
	scripts/install-packages.sh $(@:deps-%=%)

clean:
	rm -rf build

help: ## this text
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
