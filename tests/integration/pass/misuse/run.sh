#!/bin/bash
# SPDX-License-Identifier: MIT
# What a newcomer gets wrong, and what they are told: run.sh BUILD VERSION...
set -uo pipefail
build=$1
shift
versions=("$@")
bin=$build/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
newest=${versions[-1]}

expect() { # NAME WANTED COMMAND...: fails, and says exactly this line
	local name=$1 wanted=$2
	shift 2
	if "$@" >out.txt 2>&1; then
		echo "FAILED $name: it succeeds"
		failed=1
	elif ! sed "s,$build,BUILD,g; s,$tmp,TMP,g" out.txt | grep -qxF -- "$wanted"; then
		echo "FAILED $name: wanted the line"
		echo "  $wanted"
		echo "found"
		sed 's/^/  /' out.txt
		failed=1
	else
		echo "ok $name"
	fi
}

cat >app.c <<'EOT'
int work(int n) { return n + 1; }
int main(void) { return work(-1); }
EOT
cat >app.yaml <<'EOT'
provider: app
events:
  - name: work
    fields: [{name: n, type: s32}]
    site: {file: app.c, function: work, at: entry, args: {n: n}}
EOT
"$bin/genevent" generate app.yaml --header gkhi_app.h --source gkhi_app.c --sites sites.h || exit 1

# A plugin of one LLVM in another says so and stops: no crash, no object file.
for plugin in "${versions[@]}"; do
	for clang in "${versions[@]}"; do
		[ "$plugin" != "$clang" ] || continue
		rm -f app.o
		expect "gkhi-pass-$plugin in clang-$clang" \
			"gkhi: error: this gkhi-pass is built for LLVM $plugin, and the compiler that loads it is LLVM $clang; use gkhi-pass-$clang.so, or compile with gkhi-cc, which chooses it" \
			"clang-$clang" -g "-fpass-plugin=$build/lib/gkhi-pass-$plugin.so" -DGKHI_PASS -include sites.h -c app.c
		[ ! -e app.o ] || { echo "FAILED: and yet there is an object file"; failed=1; }
	done
done

expect "the sites header without the pass" \
	'./sites.h:5:2: error: "app.yaml puts hooks into untouched source: compile with gkhi-cc (clang 14, 16 or 19)"' \
	"clang-$newest" -fno-color-diagnostics -include sites.h -c app.c
expect "no debug information" \
	"TMP/app.yaml:5:35: error: event 'app:work': 'work' has no debug information: compile with -g, or with gkhi-cc, which takes it out again" \
	"clang-$newest" -fno-color-diagnostics "-fpass-plugin=$build/lib/gkhi-pass-$newest.so" -DGKHI_PASS -include sites.h -c app.c
expect "gcc" "gkhi-cc: 'gcc' is no clang: the pass runs in clang 14, 16 and 19 only" "$bin/gkhi-cc" gcc -c app.c
expect "no such compiler" "gkhi-cc: there is no compiler 'clang-999'" "$bin/gkhi-cc" clang-999 -c app.c
expect "no such header" "gkhi-cc: there is no sites header 'gone.h'" "$bin/gkhi-cc" --gkhi-sites=gone.h "clang-$newest" -c app.c
mkdir -p other
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" = -dumpversion ] && echo 17.0.6 || echo clang version 17.0.6\n' >other/clang-17 && chmod +x other/clang-17
expect "a clang without a plugin" "gkhi-cc: there is no gkhi-pass-17.so for 'other/clang-17' (there are: ${versions[*]})" \
	"$bin/gkhi-cc" other/clang-17 -c app.c
sed 's/{\\"gkhi_sites\\":1/{\\"gkhi_sites\\":7/' sites.h >newer.h
expect "another genevent" \
	"error: gkhi: cannot read the site configuration 'gkhi_site_config_app': format 7, this plugin reads format 1: genevent and gkhi-pass are of different releases" \
	"$bin/gkhi-cc" --gkhi-sites=newer.h "clang-$newest" -fno-color-diagnostics -c app.c

# The link is where a site that no file had comes to light.
sed 's/function: work/function: other/; s/file: app.c/file: missing.c/' app.yaml >missing.yaml
"$bin/genevent" generate missing.yaml --header gkhi_app.h --source gkhi_missing.c --sites missing.h || exit 1
"$bin/gkhi-cc" --gkhi-sites=missing.h "clang-$newest" app.c -o app || exit 1
expect "a declared event has no site" "gkhi map: event 'app:work' has no site" "$bin/gkhi" map --check missing.yaml app

# And what is right: debug information only where it was asked for; dependency files name the header.
for version in "${versions[@]}"; do
	"$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version" -O2 -MD -c app.c -o app.o || failed=1
	if readelf -SW app.o | grep -q debug_info; then echo "FAILED: clang $version leaves debug information"; failed=1; fi
	if readelf -SW app.o | grep -q gkhi_site_config; then echo "FAILED: clang $version leaves the configuration"; failed=1; fi
	grep -q sites.h app.d || { echo "FAILED: the dependency file does not name the sites header"; failed=1; }
	"clang-$version" -O2 -c app.c -o plain.o
	"$bin/gkhi-cc" "clang-$version" -O2 -c app.c -o same.o || failed=1
	objcopy -O binary -j .text plain.o plain.bin && objcopy -O binary -j .text same.o same.bin
	cmp plain.bin same.bin || { echo "FAILED: clang $version: the pass without sites changes the code"; failed=1; }
	"$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version" -O2 -g -c app.c -o app.o || failed=1
	readelf -SW app.o | grep -q debug_info || { echo "FAILED: clang $version takes -g away"; failed=1; }
	"$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$version" -O2 -g1 -c app.c -o app.o || failed=1
	readelf -SW app.o | grep -q debug_line || { echo "FAILED: clang $version takes -g1 away"; failed=1; }
done
echo 'int f(void) { return 1; }' | "$bin/gkhi-cc" --gkhi-sites=sites.h "clang-$newest" -x c -c - -o stdin.o || failed=1
exit $failed
