#!/bin/bash
# SPDX-License-Identifier: MIT
# Wrong usage is 2, with a line that helps; help teaches; the completion completes
# shellcheck source=tests/integration/cli/lib.sh
. "$(dirname "$0")/lib.sh"

code 2 "$BIN/gkhi"
code 2 "$BIN/gkhi" rport
same "$(cat "$work/err")" "gkhi: unknown verb 'rport'; did you mean 'report'? see 'gkhi help'"
code 2 "$BIN/gkhi" record
same "$(cat "$work/err")" "gkhi record: found neither, wanted either -p PID or a command: gkhi record -- CMD"
code 2 "$BIN/gkhi" record -p 1 -- true
same "$(cat "$work/err")" "gkhi record: found both, wanted either -p PID or a command: gkhi record -- CMD"
if [ ! -e /sys/kernel/gkhi ]; then
	code 1 "$BIN/gkhi" record -o "$work/kernel" -k 'a:b=static'
	same "$(cat "$work/err")" "gkhi record: no /sys/kernel/gkhi/events: gkhi.ko is not loaded"
	code 1 "$BIN/gkhi" snapshot -o "$work/kernel" -k
	same "$(cat "$work/err")" "gkhi snapshot: no /dev/gkhi/control: gkhi.ko is not loaded"
fi
for size in 1T 0 -1 3K 128M '' 4k 18446744073709551615K 99999999999999999999; do
	code 2 "$BIN/gkhi" record --subbuf-size="$size" -- "$work/not-started"
	same "$(cat "$work/err")" "gkhi record: --subbuf-size: found '$size', wanted a power of two from 4K to 64M"
done
for number in 0 2 5 -4 4K '' 4294967296000000000000; do
	code 2 "$BIN/gkhi" record --subbufs="$number" -- "$work/not-started"
	same "$(cat "$work/err")" "gkhi record: --subbufs: found '$number', wanted a power of two, at least 4"
done
code 2 "$BIN/gkhi" record --subbufs=64 --subbuf-size=64M -- "$work/not-started"
same "$(cat "$work/err")" "gkhi record: --subbufs: found '64' of 64M, wanted less than 4G together"
code 2 "$BIN/gkhi" set
same "$(cat "$work/err")" "gkhi set: found no batch, wanted one: gkhi set -p PID 'provider:event=static'"
code 2 "$BIN/gkhi" set 'a:b=static'
same "$(cat "$work/err")" "gkhi set: found neither -p nor -a, wanted either -p PID or -a"
code 1 "$BIN/gkhi" set -a 'a:b=static'
same "$(cat "$work/err")" "gkhi set: no process of yours was asked for tracing; name one with -p PID"
code 1 "$BIN/gkhi" list -p 12ab
same "$(cat "$work/err")" "gkhi list: --pid: found '12ab', wanted a process id"
code 2 "$BIN/gkhi" list -o HOOKS
same "$(cat "$work/err")" "gkhi list: --output: unknown column 'HOOKS'; did you mean 'HOOK'? wanted some of HOOK,STATE,*"
code 2 "$BIN/gkhi" stat -i 0
same "$(cat "$work/err")" "gkhi stat: --interval: found '0', wanted a number greater than 0"
code 2 "$BIN/gkhi" snapshot
same "$(cat "$work/err")" "gkhi snapshot: found no process, wanted -p PID or the folder of one; see 'gkhi list'"
code 2 "$BIN/gkhi" report a b
same "$(cat "$work/err")" "gkhi report: found 2 operands, wanted one trace directory"
code 2 "$BIN/gkhi" report --time=utc
same "$(cat "$work/err")" "gkhi report: --time: found 'utc', wanted monotonic or wall"
code 1 "$BIN/gkhi" report "$work"
same "$(cat "$work/err")" "gkhi report: $work: no trace: wanted a file \"metadata\" here or in a folder of it"

code 0 "$BIN/gkhi" help
for verb in list set stat record snapshot report clean; do
	code 0 "$BIN/gkhi" help "$verb"
	[[ $(cat "$work/out") == "Usage: gkhi $verb "*$'\nExamples:\n'* ]] || fail "no examples: $(cat "$work/out")"
	cp "$work/out" "$work/help"
	code 0 "$BIN/gkhi" "$verb" --help
	cmp "$work/help" "$work/out"
done

# The completion, as bash runs it.
complete() { # WORDS...
	PATH=$BIN:$PATH bash -c 'source <(gkhi completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gkhi; printf "%s " "${COMPREPLY[@]}"' _ "$@"
}
same "$(complete gkhi re)" "record report "
same "$(complete gkhi report --js)" "--json "
same "$(complete gkhi report --time '')" "monotonic wall "
same "$(complete gkhi help sn)" "snapshot "
start "$BIN/ticker" 1000000 1000
code 0 "$BIN/gkhi" list -p "$pid"
same "$(complete gkhi snapshot -p '')" "$pid "
same "$(complete gkhi record -e ticker:t)" "ticker:tick "
