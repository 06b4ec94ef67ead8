#!/bin/bash
# SPDX-License-Identifier: MIT
# Redis, compiled as its makefile does and without hooks: redis-built.sh TREE OUT CLANG. Made once.
set -euo pipefail
tree=$1 out=$2 clang=$3
mkdir -p "$out"
exec 9>"$out/.lock"
flock 9
[ ! -x "$out/src/redis-benchmark" ] || exit 0
cp -a "$tree/." "$out"
make -C "$out/src" -j2 CC="$clang" OPT=-O2 MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no redis-server redis-cli redis-benchmark \
	>"$out/build.log" 2>&1 || { tail -5 "$out/build.log" >&2; exit 1; }
