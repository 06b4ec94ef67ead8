// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* state.c - the words for states and reasons. */
#include "core.h"

const char *gkhi_state_name(enum gkhi_state state)
{
	switch (state) {
	case GKHI_DISABLED:
		return "disabled";
	case GKHI_STATIC:
		return "static";
	case GKHI_MARKER:
		return "marker";
	}
	return "?";
}

const char *gkhi_why_text(enum gkhi_why why)
{
	switch (why) {
	case GKHI_WHY_OK:
		return "";
	case GKHI_WHY_NO_SITE:
		return "no site compiled in";
	case GKHI_WHY_NO_STATIC:
		return "declared without static";
	case GKHI_WHY_NO_MARKER:
		return "declared without marker";
	case GKHI_WHY_NO_EVENT:
		return "no descriptor with this layout linked in";
	case GKHI_WHY_NO_CHANNEL:
		return "the channel could not be opened";
	case GKHI_WHY_TEXT_READONLY:
		return "text is write-protected";
	case GKHI_WHY_SITE_CHANGED:
		return "somebody else patched the site";
	case GKHI_WHY_NO_DETOUR:
		return "no detour: no room within 2 GiB, or an operand that cannot be read";
	case GKHI_WHY_LOCKDOWN:
		return "lockdown forbids kprobes";
	case GKHI_WHY_KPROBES_OFF:
		return "kprobes are off";
	case GKHI_WHY_TRAP:
		return "not optimised: trap";
	case GKHI_WHY_OPTIMISED:
		return "optimised";
	case GKHI_WHY_ARMING:
		return "arming";
	case GKHI_WHY_TOO_MANY_IDS:
		return "more than 65534 events";
	case GKHI_WHY_NO_MEMORY:
		return "out of memory";
	}
	return "?";
}
