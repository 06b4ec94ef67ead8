#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line: files, dependency files, exit codes, texts. cli.sh GENEVENT GOLDEN_DIR
set -euo pipefail

genevent=$1
golden=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$golden/pass/netdemo.yaml" netdemo.yaml
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# expect STATUS TEXT COMMAND...: the exit status, and a text on standard output or standard error.
expect() {
	local want=$1 text=$2 got=0
	shift 2
	"$@" >out 2>&1 || got=$?
	[ "$got" = "$want" ] || fail "$*: exit status $got, wanted $want: $(cat out)"
	[ -z "$text" ] || grep -qF -- "$text" out || fail "$*: no '$text' in: $(cat out)"
}

expect 0 "" "$genevent" generate netdemo.yaml --header h.h --source s.c --ctf m --doc d.md --sites x.h -M dep
cmp h.h "$golden/pass/netdemo.h" || fail "header"
cmp s.c "$golden/pass/netdemo.c" || fail "source"
cmp m "$golden/pass/netdemo.ctf" || fail "metadata"
cmp d.md "$golden/pass/netdemo.md" || fail "reference"
[ "$(cat dep)" = "h.h s.c m d.md x.h: netdemo.yaml" ] || fail "dependency file: $(cat dep)"
grep -qF "\\\"yaml\\\":\\\"$work/netdemo.yaml\\\"" x.h || fail "the sites header has no absolute path of the YAML file"

# --cmp-out leaves what would not change, and writes what would.
touch -d '2001-01-01' h.h s.c
expect 0 "" "$genevent" generate netdemo.yaml --header h.h --source s.c --cmp-out
[ "$(stat -c %Y h.h)" = "$(date -d '2001-01-01' +%s)" ] || fail "--cmp-out touched an unchanged file"
sed -i 's/A frame left/A frame has left/' netdemo.yaml
expect 0 "" "$genevent" generate netdemo.yaml --header h.h --source s.c --cmp-out
[ "$(stat -c %Y h.h)" != "$(date -d '2001-01-01' +%s)" ] || fail "--cmp-out left a changed file"
expect 0 "" "$genevent" generate netdemo.yaml --header h.h
ls ./*.tmp 2>/dev/null && fail "temporary files are left"

# An error writes nothing.
cp h.h before.h
sed 's/u16/u17/' netdemo.yaml >bad.yaml
expect 1 "bad.yaml:16:29: error: unknown type 'u17'" "$genevent" generate bad.yaml --header h.h
cmp h.h before.h || fail "an error changed the output"

expect 0 "" "$genevent" check netdemo.yaml
expect 1 "<stdin>:16:29: error: unknown type 'u17'" "$genevent" check - <bad.yaml
expect 1 "stable event 'rx' is gone" "$genevent" check "$golden/compat/break-event-gone.yaml" --against "$golden/compat/base.yaml"
expect 0 "warning: evolving event 'tx' is gone" "$genevent" check "$golden/compat/warn-evolving-gone.yaml" --against "$golden/compat/base.yaml"
expect 1 "none.yaml: No such file or directory" "$genevent" check none.yaml
expect 1 "genevent: .: Is a directory" "$genevent" check .
expect 1 "no/h.h: No such file or directory" "$genevent" generate netdemo.yaml --header no/h.h
expect 2 "nothing to write; wanted --header" "$genevent" generate netdemo.yaml
expect 2 "unknown verb 'genrate'; did you mean 'generate'?" "$genevent" genrate
expect 2 "FILE is required" "$genevent" check
expect 0 "gkhi_netdemo_rx(skb_len, dev_name);" "$genevent" --help
expect 0 "genevent 0." "$genevent" --version
expect 0 "http://json-schema.org/draft-07/schema#" "$genevent" schema
expect 0 "# Events of netdemo" "$genevent" doc netdemo.yaml
expect 0 "event {" "$genevent" ctf netdemo.yaml
expect 0 "gkhi_site_config_netdemo" "$genevent" sites netdemo.yaml
expect 1 "/dev/full: No space left on device" "$genevent" schema -o /dev/full
[ $failed = 0 ] && echo "command line as described"
exit $failed
