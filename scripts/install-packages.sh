#!/bin/sh
# SPDX-License-Identifier: MIT
# Install what a fresh Debian 12 lacks for one job: build, demo, test, bench or kernel.
# Does nothing, and needs no root, when all of it is there.
set -eu

job=${1:-build}

build="build-essential cmake ninja-build pkg-config libyaml-cpp-dev libcli11-dev libfmt-dev libelf-dev
	libsmartcols-dev nlohmann-json3-dev libxxhash-dev libzstd-dev liblzma-dev
	clang-14 llvm-14-dev clang-16 llvm-16-dev clang-19 llvm-19-dev
	libgtest-dev libgmock-dev"
demo="$build dpkg-dev ca-certificates tcl babeltrace2"
test="$demo git lld lld-14 lld-16 lld-19 xz-utils zstd libclang-rt-14-dev libclang-rt-16-dev libclang-rt-19-dev binutils
	valgrind gdb strace bash-completion python3 python3-bt2 python3-jsonschema python3-yaml util-linux jq nodejs
	linux-headers-amd64 linux-headers-6.12-amd64 clang-format clang-tidy cppcheck shellcheck codespell yamllint"
bench="$demo libbenchmark-dev lttng-tools liblttng-ust-dev systemtap-sdt-dev bpftrace valgrind python3"

case $job in
build) want=$build ;;
demo) want=$demo ;;
test) want=$test ;;
bench) want=$bench ;;
kernel) want="$build qemu-system-x86 busybox-static cpio kmod xz-utils zstd lz4 linux-headers-amd64 python3 babeltrace2
	bison flex bc libelf-dev libssl-dev clang-19 lld-19 llvm-19" ;;
*) echo "install-packages.sh: unknown job '$job'; wanted build, demo, test, bench or kernel" >&2; exit 2 ;;
esac

missing=
for p in $want; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
