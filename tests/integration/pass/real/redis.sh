#!/bin/bash
# SPDX-License-Identifier: MIT
# Untouched Redis, a live server on loopback under redis-benchmark: the trace equals what the server knows of itself.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
tree=$(fetch redis)
plain=$GKHI_SRC_DIR/redis-plain-$version
"$here/redis-built.sh" "$tree" "$plain" "clang-$version"
generate redis
"${cc[@]}" -I"$include" -c gkhi_redis.c -o gkhi_redis.o

# Two files are compiled again, with the pass; all settings stay, so that make sees no other change.
cp -a "$plain" server
rm server/src/{server,db}.o server/src/redis-server
make -C server/src CC="${cc[*]}" REDIS_LD="clang-$version -rdynamic $tmp/gkhi_redis.o" OPT=-O2 MALLOC=libc \
	BUILD_TLS=no USE_SYSTEMD=no redis-server >make.txt 2>&1 || { tail -5 make.txt; die "redis does not build"; }
"$bin/gkhi" map --check "$here/redis.yaml" server/src/redis-server

for _ in 1 2 3 4 5; do # a port that nobody has
	port=$((20000 + RANDOM % 20000))
	GKHI=$(to_file 'redis:*' "$tmp/trace.txt") server/src/redis-server --bind 127.0.0.1 --port "$port" --save '' --appendonly no \
		--dir "$tmp" --logfile "$tmp/log.txt" &
	pid=$!
	for _ in $(seq 100); do
		"$plain/src/redis-cli" -p "$port" ping >pong.txt 2>/dev/null && break 2
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
done
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$tmp"' EXIT
[ "$(cat pong.txt)" = PONG ] || { tail -3 log.txt; die "the server does not answer"; }
cli() { "$plain/src/redis-cli" -p "$port" "$@"; }

"$plain/src/redis-benchmark" -p "$port" -n 5000 -c 20 -r 300 -t set,get,incr,lpush,hset,zadd -q >benchmark.txt 2>&1 ||
	{ tail -3 benchmark.txt; die "redis-benchmark failed"; }
cli set 'with space' x >ok.txt
cli get nowhere >ok.txt
keys=$(cli dbsize)
cli keys '*' | sort >keys.txt
sed 's/.*/type "&"/' keys.txt | cli >types.txt
cli info commandstats | tr -d '\r' >info.txt
hits=$(cli info stats | tr -d '\r' | sed -n 's/^keyspace_hits://p')
misses=$(cli info stats | tr -d '\r' | sed -n 's/^keyspace_misses://p')

# Every command as often as the server counted it; `info` itself was running.
sed -nE 's/^redis:command: command="?([^" ]*)"? .*/\1/p' trace.txt >commands.txt
tested=0
while IFS='=,' read -r name calls _; do
	name=${name#cmdstat_}
	name=${name%:calls}
	case $name in info* | shutdown*) continue ;; esac
	traced=$(grep -cxF "$name" commands.txt || true)
	[ "$calls" = "$traced" ] || die "$name: counted $calls, traced $traced"
	tested=$((tested + calls))
done < <(grep '^cmdstat_' info.txt)
[ "$tested" -ge 30000 ] || die "only $tested commands"

# Every key once, with its name and type.
sed -nE 's/^redis:add: key=("(.*)"|([^ ]*)) db=0 kind=.*/\2\3/p' trace.txt | sort >added.txt
diff keys.txt added.txt >diff.txt || { head -5 diff.txt; die "the keys (<) and the traced ones (>) differ"; }
[ "$(wc -l <added.txt)" = "$keys" ] || die "$keys keys, $(wc -l <added.txt) traced"
for kind in string list hash zset; do
	count=$(grep -cx "$kind" types.txt || true)
	traced=$(grep -cE "^redis:add: .* kind=$kind\b" trace.txt || true)
	[ "$count" = "$traced" ] || die "$kind: $count keys, $traced traced"
done

# LOOKUP_NOSTATS is 4 (1 << 2), LOOKUP_WRITE 8: the server counts neither.
counted() { sed -nE "s/^redis:lookup: .* found=$1 flags=([0-9]+)\$/\1/p" trace.txt | awk 'int($1 / 4) % 4 == 0' | wc -l; }
[ "$hits" = "$(counted true)" ] || die "hits: counted $hits, traced $(counted true)"
[ "$misses" = "$(counted false)" ] || die "misses: counted $misses, traced $(counted false)"

# Switched from another terminal, while the server answers: what it does in between is in the trace when its hook was on.
load() { "$plain/src/redis-benchmark" -p "$port" -n 2000 -c 10 -t get -q >>benchmark.txt 2>&1 || die "redis-benchmark failed"; }
get_lines() { grep -c '^redis:command: command="\?get' trace.txt || true; }
"$bin/gkhi" set -p "$pid" 'redis:* -'
before=$(wc -l <trace.txt)
load
[ "$(wc -l <trace.txt)" = "$before" ] || die "$(($(wc -l <trace.txt) - before)) events while all hooks were off"
"$bin/gkhi" set -p "$pid" 'redis:command=marker channel=out'
gets=$(get_lines)
load
traced=$(($(get_lines) - gets))
[ "$traced" = 2000 ] || die "2000 gets with redis:command on, $traced traced"
load & # and under load, in every order
for state in disabled marker disabled marker disabled; do
	"$bin/gkhi" set -p "$pid" "redis:*=$state"
done
wait $!
before=$(wc -l <trace.txt)
cli get x >ok.txt
[ "$(wc -l <trace.txt)" = "$before" ] || die "events after the last switch to disabled"
cli shutdown nosave || true
wait "$pid" || die "the server ends with $?"
echo "redis with clang $version: $tested commands, $keys keys, $hits hits and $misses misses, as the server counted them"
