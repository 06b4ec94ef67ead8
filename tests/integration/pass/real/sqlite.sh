#!/bin/bash
# SPDX-License-Identifier: MIT
# Untouched SQLite: a marker at every function's entry, at every third call, and where SQLite itself counts.
# Its workloads run with all of them off and all of them on and must print the same; the trace must agree with SQLite's
# own counters.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
level=${4:--O2}
tree=$(fetch sqlite3)
sqlite=$GKHI_SRC_DIR/sqlite-plain
"$here/sqlite-source.sh" "$tree" "$sqlite"
generate sqlite
stress=("${cc[0]}" "${cc[1]}" --gkhi-stress=3 "${cc[@]:2}")

"${stress[@]}" "$level" -w -I"$sqlite" -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -c "$sqlite/sqlite3.c" -o sqlite3.o
"${cc[@]}" -I"$include" -c gkhi_sqlite.c -o gkhi_sqlite.o
for program in speedtest1 sqlite_main; do
	source=$sqlite/$program.c
	[ -f "$source" ] || source=$here/$program.c
	"clang-$version" -O1 -w -I"$sqlite" "$source" sqlite3.o gkhi_sqlite.o -lm -lpthread -o "$program"
done
"$bin/gkhi" map --check lite:step,lite:opcode,lite:page_write speedtest1
"$bin/gkhi" map speedtest1 >map.txt
sites=$(grep -c '^[0-9a-f]' map.txt)
sources=$(grep '^[0-9a-f]' map.txt | sed -E 's/.* ([^ ]+:[0-9]+) .*/\1/' | sort -u | wc -l)
[ "$sites" -gt 5000 ] || die "only $sites pads"
! grep -q '^[0-9a-f]* .~' map.txt || die "a pad crosses eight bytes"

# 1. SQLite's counters and the trace. The stress hooks are on too, into a ring that is overwritten.
rm -f test.db
plain=$(./sqlite_main test.db)
rm -f test.db
GKHI="lite:n*=marker channel=main; $(to_file 'lite:*[eps]' "$tmp/trace.txt")" \
	./sqlite_main test.db >counters.txt
[ "$plain" = "$(cat counters.txt)" ] || die "the output changes: $plain, with hooks $(cat counters.txt)"
counter() { sed -E "s/.*\b$1=([0-9]+).*/\1/" counters.txt; }
traced() { grep -c "^lite:$1:" trace.txt || true; }
[ "$(counter page_writes)" = "$(traced page_write)" ] || die "page writes: counted $(counter page_writes), traced $(traced page_write)"
steps=$(grep -c '^lite:step: rc=[0-9]* busy=0$' trace.txt)
rows=$(grep -c '^lite:step: rc=100 busy=0$' trace.txt)
opcodes=$(grep -c '^lite:opcode: .* busy=0$' trace.txt)
[ "$(counter steps)" = "$steps" ] || die "steps: counted $(counter steps), traced $steps"
[ "$(counter rows)" = "$rows" ] || die "rows: counted $(counter rows), traced $rows"
[ "$(counter vm_steps)" = "$opcodes" ] || die "opcodes: counted $(counter vm_steps), traced $opcodes"
[ "$opcodes" -gt 10000 ] || die "only $opcodes opcodes"
grep -q "^lite:page_write: pgno=1 file=.*test.db" trace.txt || die "no write of page 1"
rm trace.txt

# 2. A large workload with everything off and everything on: the same hash of every result, and not one line differs.
words() { sed -E 's/ +[0-9]+\.[0-9]+s?$//' "$1"; }
./speedtest1 --memdb --size 3 --verify >off.txt
GKHI="lite:*=marker channel=main" ./speedtest1 --memdb --size 3 --verify >on.txt &
pid=$!
armed=0
while kill -0 "$pid" 2>/dev/null && [ "$armed" -lt "$sites" ]; do
	now=$("$bin/gkhi" map -p "$pid" 2>/dev/null | grep -c '^[0-9a-f]* [A-Z]\*' || true)
	[ "$now" -lt "$armed" ] || armed=$now
done
wait "$pid" || die "speedtest1 fails with all hooks on: $?"
[ "$armed" = "$sites" ] || die "$armed of $sites pads were armed"
diff <(words off.txt) <(words on.txt) || die "speedtest1 says something else with all hooks on"
grep -q 'Verification Hash' on.txt || die "speedtest1 prints no hash"
echo "sqlite $level with clang $version: $sites pads of $sources lines, $(cat counters.txt)"
