#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetch and unpack a Debian source package: fetch-source.sh PACKAGE [VERSION]
#
# Prints the path of the unpacked tree, Debian's patches applied. The mirrors are those of the system's own apt set-up, with
# deb-src in place of deb; lists, cache and state live under build/, so that the set-up itself stays untouched and no root is
# needed. apt checks the signatures as ever. A package is fetched once: with the tree in place nothing is asked of any network.
#
#   GKHI_SRC_DIR   where the trees go (default: build/src)
#   APT_ETC        the apt set-up to read (default: /etc/apt; for the test)
set -euo pipefail

die() { echo "fetch-source.sh: $*" >&2; exit 1; }

case $# in
1 | 2) ;;
*) die "found $# arguments; wanted PACKAGE [VERSION]" ;;
esac
package=$1
version=${2:-}
[[ $package =~ ^[a-z0-9][a-z0-9+.-]+$ ]] || die "'$package' is not a name of a Debian source package"

top=$(cd "$(dirname "$0")/.." && pwd)
src=${GKHI_SRC_DIR:-$top/build/src}
etc=${APT_ETC:-/etc/apt}
stamp=$src/.$package${version:+=$version}.tree
mkdir -p "$src"

exec 9>"$src/.$package.lock"
flock 9
if [ -f "$stamp" ] && [ -d "$src/$(cat "$stamp")" ]; then
	echo "$src/$(cat "$stamp")"
	exit 0
fi

# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$codename" ] || die "no VERSION_CODENAME in /etc/os-release; wanted a Debian release"

# One-line and deb822 sources to "options|uri|suite" lines: Debian's own suites alone, since others seldom have sources.
# A suite is Debian's when it is the release's name, or that and -updates, -security, -backports, /updates.
list_sources() {
	local f
	for f in "$etc"/sources.list "$etc"/sources.list.d/*.list; do
		[ -f "$f" ] || continue
		sed -nE 's/#.*//; s/^[[:space:]]*deb(-src)?[[:space:]]+(\[([^]]*)\][[:space:]]+)?([^[:space:]]+)[[:space:]]+([^[:space:]]+).*/\3|\4|\5/p' "$f"
	done
	for f in "$etc"/sources.list.d/*.sources; do
		[ -f "$f" ] || continue
		awk '
			function flush(   u, s, i, j, nu, ns, o) {
				if (enabled && uris != "") {
					o = signed == "" ? "" : "signed-by=" signed
					nu = split(uris, u, " "); ns = split(suites, s, " ")
					for (i = 1; i <= nu; i++) for (j = 1; j <= ns; j++) print o "|" u[i] "|" s[j]
				}
				uris = suites = signed = key = ""; enabled = 1
			}
			BEGIN { enabled = 1 }
			/^#/ { next }
			/^[[:space:]]*$/ { flush(); next }
			/^[^[:space:]]/ {
				i = index($0, ":"); key = tolower(substr($0, 1, i - 1)); value = substr($0, i + 1)
				sub(/^[[:space:]]+/, "", value)
				if (key == "uris") uris = value
				else if (key == "suites") suites = value
				else if (key == "signed-by" && value ~ /^\//) signed = value
				else if (key == "enabled" && tolower(value) ~ /^(no|false|0)/) enabled = 0
				next
			}
			{ if (key == "uris") uris = uris " " $0; else if (key == "suites") suites = suites " " $0 }
			END { flush() }' "$f"
	done
}

apt_dir=$src/.apt
mkdir -p "$apt_dir/state/lists/partial" "$apt_dir/cache/archives/partial" "$apt_dir/log"
list_sources | awk -F'|' -v c="$codename" '
	$3 ~ "^" c "($|-updates$|-security$|-backports$|/updates$)" && $2 !~ /^cdrom:/ {
		gsub(/[[:space:]]+/, " ", $1); sub(/^ | $/, "", $1)
		line = "deb-src " ($1 == "" ? "" : "[" $1 "] ") $2 " " $3 " main"
		if (!seen[line]++) print line
	}' >"$apt_dir/sources.list.new"
[ -s "$apt_dir/sources.list.new" ] || die "no source of suite '$codename' in $etc/sources.list or $etc/sources.list.d; wanted at least one"

apt=(apt-get -q -o "Dir::Etc::sourcelist=$apt_dir/sources.list" -o Dir::Etc::sourceparts=-
	-o "Dir::State=$apt_dir/state" -o "Dir::State::lists=$apt_dir/state/lists" -o "Dir::State::status=/var/lib/dpkg/status"
	-o "Dir::Cache=$apt_dir/cache" -o "Dir::Log=$apt_dir/log" -o "APT::Sandbox::User=$(id -un)"
	-o Acquire::Languages=none -o Acquire::Retries=3)

log=$apt_dir/log/$package.log
update() {
	mv "$apt_dir/sources.list.new" "$apt_dir/sources.list"
	"${apt[@]}" update >"$log" 2>&1 || { tail -n 20 "$log" >&2; die "apt-get update failed (whole log: $log)"; }
	touch "$apt_dir/updated"
}

# Lists are shared by all packages: one update a day is enough, or one when the sources have changed.
exec 8>"$apt_dir/lock"
flock 8
if ! cmp -s "$apt_dir/sources.list.new" "$apt_dir/sources.list" 2>/dev/null ||
	[ -z "$(find "$apt_dir/updated" -mmin -1440 2>/dev/null)" ]; then
	update
fi
flock -u 8

work=$(mktemp -d "$src/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$work" && "${apt[@]}" source "$package${version:+=$version}") >"$log" 2>&1 ||
	{ tail -n 20 "$log" >&2; die "cannot fetch source package '$package${version:+=$version}' (whole log: $log)"; }

# The folder is named after the package's full version, so that two versions can lie side by side.
unpacked=$(find "$work" -mindepth 1 -maxdepth 1 -type d)
dsc=$(find "$work" -maxdepth 1 -name '*.dsc' -printf '%f\n')
if [ ! -d "$unpacked" ] || [ -z "$dsc" ]; then
	die "found '$(ls "$work")' fetched for '$package'; wanted one folder and one .dsc"
fi
tree=${dsc%.dsc}
rm -rf "${src:?}/$tree"
mv "$unpacked" "$src/$tree"
mkdir -p "$src/.packages"
find "$work" -mindepth 1 -maxdepth 1 -type f -exec mv -t "$src/.packages" {} +
echo "$tree" >"$stamp"
echo "$src/$tree"
