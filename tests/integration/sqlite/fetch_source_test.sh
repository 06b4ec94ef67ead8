#!/bin/bash
# SPDX-License-Identifier: MIT
# description: fetch-source.sh reads both forms of apt sources, keeps to Debian's own, uses its cache, and says what is wrong.
# usage: fetch_source_test.sh SOURCE_DIR. Needs no network: apt-get is a recorder put in front of PATH.
set -euo pipefail
script=$1/scripts/fetch-source.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

mkdir -p "$tmp/bin" "$tmp/etc/sources.list.d"
cat >"$tmp/bin/apt-get" <<'APT'
#!/bin/bash
echo "$*" >>"$FAKE_LOG"
case "$*" in
*" source broken") echo "E: Unable to find a source package for broken" >&2; exit 100 ;;
*" source "[a-z]*) p=${!#}; p=${p%%=*}; mkdir "$p-1.0"; touch "$p-1.0/file.c" "${p}_1.0-1.dsc" "${p}_1.0.orig.tar.xz" ;;
esac
APT
chmod +x "$tmp/bin/apt-get"
export PATH=$tmp/bin:$PATH FAKE_LOG=$tmp/log GKHI_SRC_DIR=$tmp/src APT_ETC=$tmp/etc
touch "$FAKE_LOG"

cat >"$tmp/etc/sources.list" <<EOT
# deb http://commented.invalid/debian $codename main
deb [arch=amd64 signed-by=/k.gpg] http://one.invalid/debian $codename main contrib
deb-src http://one.invalid/debian $codename-updates main
deb cdrom:[Debian]/ $codename main
deb http://vendor.invalid/apt cloud-sdk-$codename main
EOT
cat >"$tmp/etc/sources.list.d/a.sources" <<EOT
Types: deb
URIs: http://two.invalid/debian
 http://three.invalid/debian
Suites: $codename $codename-security
Components: main
Signed-By: /two.gpg

Types: deb
Enabled: no
URIs: http://disabled.invalid/debian
Suites: $codename
Components: main

Types: deb
URIs: https://other.invalid/node
Suites: nodistro
Components: main
EOT

tree=$("$script" demo)
if [ "$tree" != "$tmp/src/demo_1.0-1" ] || [ ! -f "$tree/file.c" ]; then fail "tree is '$tree'"; fi
want="deb-src [arch=amd64 signed-by=/k.gpg] http://one.invalid/debian $codename main
deb-src http://one.invalid/debian $codename-updates main
deb-src [signed-by=/two.gpg] http://two.invalid/debian $codename main
deb-src [signed-by=/two.gpg] http://two.invalid/debian $codename-security main
deb-src [signed-by=/two.gpg] http://three.invalid/debian $codename main
deb-src [signed-by=/two.gpg] http://three.invalid/debian $codename-security main"
diff -u <(echo "$want") "$tmp/src/.apt/sources.list" || fail "sources differ"
grep -q ' update' "$FAKE_LOG" || fail "no update before the first fetch"
grep -q 'Dir::Etc::sourceparts=-' "$FAKE_LOG" || fail "the system's sources would be read"

: >"$FAKE_LOG"
[ "$("$script" demo)" = "$tree" ] || fail "second call names another tree"
[ ! -s "$FAKE_LOG" ] || fail "second call used apt: $(cat "$FAKE_LOG")"

"$script" other 2.0 >/dev/null
grep -q ' source other=2.0' "$FAKE_LOG" || fail "version not asked for"
if grep -q ' update' "$FAKE_LOG"; then fail "lists fetched again within a day"; fi

err=$("$script" broken 2>&1) && fail "broken package accepted"
grep -q "cannot fetch source package 'broken'" <<<"$err" || fail "said: $err"
err=$("$script" 'x;y' 2>&1) && fail "bad name accepted"
[ "$err" = "fetch-source.sh: 'x;y' is not a name of a Debian source package" ] || fail "said: $err"
err=$("$script" 2>&1) && fail "no argument accepted"
[ "$err" = "fetch-source.sh: found 0 arguments; wanted PACKAGE [VERSION]" ] || fail "said: $err"
: >"$tmp/etc/sources.list"; rm "$tmp/etc/sources.list.d/a.sources"
err=$("$script" third 2>&1) && fail "no sources accepted"
grep -q "no source of suite '$codename'" <<<"$err" || fail "said: $err"
[ -z "$(find "$tmp/src" -maxdepth 1 -name '.fetch.*')" ] || fail "work folder left behind"
echo ok
