#!/bin/bash
# SPDX-License-Identifier: MIT
# The installed library works for others: through its CMake package and through pkg-config.
# usage: install_test.sh BUILD-DIR BIN-DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 bin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export GKHI_DIR=$work/run
unset GKHI

cmake --install "$build" --component reader --prefix "$work/prefix" >/dev/null
"$bin/gkhi" record -o "$work/trace" -- "$bin/ticker" 25 >/dev/null 2>&1
printf 'ticker:end 1\nticker:tick 25\n' >"$work/wanted"

cat >"$work/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
find_package(gkhi-reader REQUIRED)
add_executable(count $here/count.cc)
target_link_libraries(count PRIVATE gkhi::reader)
CMAKE
cmake -S "$work" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/b" >/dev/null
"$work/b/count" "$work/trace" | diff "$work/wanted" -

pc=$(dirname "$(find "$work/prefix" -name gkhi-reader.pc)")
# shellcheck disable=SC2046
"${CXX:-c++}" "$here/count.cc" -o "$work/count" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs gkhi-reader)
"$work/count" "$work/trace" | diff "$work/wanted" -
