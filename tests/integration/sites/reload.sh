#!/bin/bash
# SPDX-License-Identifier: MIT
# 200 loads and unloads of two hooked libraries while their hooks are on.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GKHI_DIR=$dir timeout 100 "$@"
