# SPDX-License-Identifier: MIT
# shellcheck shell=dash disable=SC2034  # busybox; the tests use them
# For the tests in tc/, in the guest: sh -e, results on fd 3.
E=/sys/kernel/gkhi/events
C=/sys/kernel/gkhi/channels
P=/sys/module

fail() { echo "FAILED: $*" >&3; dmesg | tail -20 >&3; exit 1; }

# is FILE VALUE: the file says so.
is() {
	local found
	found=$(cat "$1") || fail "$1 cannot be read"
	[ "$found" = "$2" ] || fail "$1: found '$found', wanted '$2'"
}

# becomes FILE VALUE: it says so within five seconds.
becomes() {
	local i=0
	while [ "$(cat "$1")" != "$2" ]; do
		i=$((i + 1))
		[ $i -lt 100 ] || fail "$1: found '$(cat "$1")' after five seconds, wanted '$2'"
		usleep 50000
	done
}

# refused ERROR TEXT FILE: writing TEXT fails with this error (words of strerror).
refused() {
	local said
	said=$(printf '%s' "$2" 2>/dev/null >/tmp/text; dd if=/tmp/text of="$3" bs=64k 2>&1) && fail "$3 took '$2'"
	case $said in
	*"$1"*) ;;
	*) fail "$3 refused '$2' with '$said', wanted '$1'" ;;
	esac
}

batch() { printf '%s' "$*" >/dev/gkhi/control; }

# The kernel has nothing to complain of.
clean_log() {
	! dmesg | grep -E 'BUG|WARNING|Oops|general protection|possible recursive|suspicious RCU|Call Trace' >&3 ||
		fail "the kernel's log"
}
