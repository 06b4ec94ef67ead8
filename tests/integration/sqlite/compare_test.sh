#!/bin/bash
# SPDX-License-Identifier: MIT
# description: compare.sh says "same" only when SQLite, gkhi report and babeltrace2 agree (the negative control of the counts).
# usage: compare_test.sh SOURCE_DIR. Both readers are stand-ins that print what the case wants.
set -euo pipefail
compare=$1/examples/sqlite/compare.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
mkdir "$tmp/bin"
cat >"$tmp/bin/gkhi" <<'FAKE'
#!/bin/bash
echo "EVENT EVENTS RATE FIRST LAST"
while read -r event n; do echo "$event $n 1.0 1.0 2.0"; done <"$CASE/report"
exit "$(cat "$CASE/status" 2>/dev/null || echo 0)"
FAKE
cat >"$tmp/bin/babeltrace2" <<'FAKE'
#!/bin/bash
while read -r event n; do for ((i = 0; i < n; i++)); do echo "[$i] $event: { cpu_id = 0 }, { text = \"a:b: c\" }"; done; done <"$CASE/babeltrace2"
FAKE
chmod +x "$tmp/bin/"*
export PATH=$tmp/bin:$PATH CASE=$tmp/case
mkdir "$CASE"

expect() { # EXIT TEXT: of the case that lies in $CASE
	local code=0
	"$compare" gkhi trace "$CASE/truth" >"$tmp/out" 2>&1 || code=$?
	[ "$code" = "$1" ] || fail "exit $code, wanted $1: $(cat "$tmp/out")"
	grep -qE "$2" "$tmp/out" || fail "no '$2' in: $(cat "$tmp/out")"
}
good() {
	rm -f "$CASE/status"
	echo "opcode 5" >"$CASE/truth"
	printf 'sqlite:opcode 5\nsqlite:lock 2\n' | tee "$CASE/report" >"$CASE/babeltrace2"
}
good && expect 0 'sqlite:opcode +5 +5 +5  same'
good && echo "opcode 6" >"$CASE/truth" && expect 1 'sqlite:opcode +6 +5 +5  DIFFERENT'
good && sed -i 's/opcode 5/opcode 4/' "$CASE/report" && expect 1 'sqlite:opcode +5 +4 +5  DIFFERENT'
good && sed -i 's/opcode 5/opcode 4/' "$CASE/babeltrace2" && expect 1 'sqlite:opcode +5 +5 +4  DIFFERENT'
good && sed -i '/lock/d' "$CASE/report" && expect 1 'sqlite:lock +- +0 +2  DIFFERENT'
good && : >"$CASE/truth" && expect 1 'SQLite counted nothing'
good && echo 3 >"$CASE/status" && expect 1 'events are missing from trace'
echo ok
