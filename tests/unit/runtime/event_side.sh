#!/bin/sh
# SPDX-License-Identifier: MIT
# The event side runs with the interrupted code's vector registers live, in any context: its objects use none of them and
# call nothing but gkhi itself. usage: event_side.sh OBJECT...
set -eu
bad=0
for object in "$@"; do
	foreign=$(nm -u "$object" | awk '{print $2}' | grep -v -E '^(gkhi_|port_|detour_|_GLOBAL_OFFSET_TABLE_$)' | tr '\n' ' ' || true)
	if [ -n "$foreign" ]; then
		echo "$object calls: $foreign"
		bad=1
	fi
	case $object in *.S.o) continue ;; esac # these save and restore what they use
	if objdump -d "$object" | grep -q -E '%[xyz]mm'; then
		echo "$object uses vector registers"
		bad=1
	fi
done
[ $# -gt 0 ] || { echo "no objects"; exit 2; }
[ $bad = 0 ] && echo "$# objects: no vector register, no foreign call"
exit $bad
