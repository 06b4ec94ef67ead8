#!/bin/bash
# SPDX-License-Identifier: MIT
# names and strings of a traced program never steer the terminal of who reads them
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A title, a clearing, a C1 introducer as UTF-8 and as a bare byte, and what must stay: an umlaut.
evil=$'\e]0;x\a\e[2J\xc2\x9b\x9bü'
name=$'t\e[7m\xc2\x9b\x9bü'
cp "$BIN/ticker" "$work/$name"

# plain FILE...: no control character but line ends and tabs, and all of it UTF-8.
plain() {
	local file
	for file in "$@"; do
		iconv -f UTF-8 -t UTF-8 "$file" >/dev/null 2>&1 || fail "$file is not UTF-8: $(cat -v "$file")"
		! LC_ALL=C.UTF-8 grep -P '[\x{00}-\x{08}\x{0b}-\x{1f}\x{7f}-\x{9f}]' "$file" >"$work/found" ||
			fail "$file has control characters: $(cat -v "$work/found")"
	done
}

# shown COMMAND...: it succeeds, and what it prints is plain.
shown() {
	code 0 "$@"
	plain "$work/out" "$work/err"
}

shown "$BIN/gkhi" record -o "$work/trace" -e 'ticker:*' -- "$work/$name" 3 0 0 "$evil"
shown "$BIN/gkhi" report "$work/trace"
grep -qF ' name="\x1b]0;x\x07\x1b[2J\xc2\x9b\x9bü"' "$work/out" || fail "no string: $(cat "$work/out")"
grep -qF $'t_[7m\\xc2\\x9b\xef\xbf\xbdü-' "$work/out" || fail "no name: $(cat "$work/out")"
for options in --message --stat --json "--stat --json"; do
	# shellcheck disable=SC2086
	shown "$BIN/gkhi" report $options "$work/trace"
done
code 0 "$BIN/gkhi" report --json "$work/trace"
jq -e . "$work/out" >/dev/null || fail "no JSON: $(cat "$work/out")"
same "$(jq -s -r '[.[].fields.name // empty][0]' "$work/out")" $'\e]0;x\a\e[2J\xc2\x9b\xef\xbf\xbdü'

# A program that runs: its folder is made, its name is listed.
start "$work/$name" 1000000 500 0 "$evil"
shown "$BIN/gkhi" set -p "$pid" 'ticker:tick=static'
for command in list "list -o COMM,HOOK,DIR" "list --raw -o COMM,HOOK" "list --json" stat "stat --json" map "map --json"; do
	# shellcheck disable=SC2086
	shown "$BIN/gkhi" $command -p "$pid"
done
shown "$BIN/gkhi" map "$work/$name"
for tool in tracefs bpftrace perf; do shown "$BIN/gkhi" map -f "$tool" "$work/$name"; done

# Errors that name what is wrong.
for command in report map; do
	code 1 "$BIN/gkhi" "$command" "$work/no $evil"
	plain "$work/err"
done
code 1 "$BIN/gkhi" set -p "$pid" "$evil:*=static"
plain "$work/err"

# Lines for people, written by the traced program itself.
GKHI='channel log backend=printk; ticker:tick=static channel=log' "$work/$name" 3 0 0 "$evil" >/dev/null 2>"$work/err"
[ "$(grep -c '^ticker:tick' "$work/err")" = 3 ] || fail "no lines: $(cat -v "$work/err")"
plain "$work/err"
