#!/bin/bash
# SPDX-License-Identifier: MIT
# Hold the enum "opcode" of sqlite.yaml against the opcodes.h of the source being built: check-opcodes.sh OPCODES_H [YAML]
set -euo pipefail
opcodes=$1
yaml=${2:-$(dirname "$0")/sqlite.yaml}

want=$(sed -nE 's/^#define OP_([A-Za-z0-9]+)[[:space:]]+([0-9]+).*/\1: \2/p' "$opcodes" | sort)
found=$(awk '/^  opcode:/ { on = 1; next } on && /^    }/ { exit } on' "$yaml" | tr -d '{}" ' | tr ',' '\n' |
	sed -nE 's/^([A-Za-z0-9]+):([0-9]+)$/\1: \2/p' | sort)
[ -n "$want" ] || { echo "check-opcodes.sh: found no '#define OP_' in $opcodes" >&2; exit 1; }
if ! diff <(echo "$found") <(echo "$want") >&2; then
	echo "check-opcodes.sh: the enum 'opcode' of $yaml (<) is not that of $opcodes (>)" >&2
	exit 1
fi
