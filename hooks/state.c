// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* state.c - the three states: what each transition asks for, and the words for states and reasons. */
#include "internal.h"

/* A bare marker has one place, in the hot path. */
static unsigned int gkhi_bare_moves(enum gkhi_state from, enum gkhi_state to)
{
	if (to == GKHI_MARKER)
		return GKHI_ARM_PADS | GKHI_TO_PAD;		/* disabled -> marker, marker -> marker */
	if (from == GKHI_MARKER)
		return GKHI_DISARM_PADS | GKHI_TO_OFF;		/* marker -> disabled */
	return GKHI_TO_OFF;					/* disabled -> disabled */
}

/*
 * A hook with a cold block. Its pads are never disarmed: a thread that loaded the
 * mode long ago may still run through one. From a state to itself: an object came,
 * whose places are as they were compiled.
 */
unsigned int gkhi_moves(enum gkhi_state from, enum gkhi_state to, bool bare)
{
	if (bare)
		return gkhi_bare_moves(from, to);
	switch (to) {
	case GKHI_STATIC:
		switch (from) {
		case GKHI_DISABLED:	/* disabled -> static */
		case GKHI_STATIC:	/* static -> static */
			return GKHI_ARM_KEYS | GKHI_TO_CALL;
		case GKHI_MARKER:	/* marker -> static: the keys are armed, but for those that failed */
			return GKHI_ARM_KEYS | GKHI_TO_CALL;
		}
		break;
	case GKHI_MARKER:
		switch (from) {
		case GKHI_DISABLED:	/* disabled -> marker */
		case GKHI_MARKER:	/* marker -> marker */
			return GKHI_ARM_PADS | GKHI_ARM_KEYS | GKHI_TO_PAD;
		case GKHI_STATIC:	/* static -> marker: pads first, then the mode that leads to them */
			return GKHI_ARM_PADS | GKHI_ARM_KEYS | GKHI_TO_PAD;
		}
		break;
	case GKHI_DISABLED:
		switch (from) {
		case GKHI_STATIC:	/* static -> disabled */
		case GKHI_MARKER:	/* marker -> disabled */
			return GKHI_DISARM_KEYS | GKHI_TO_OFF;
		case GKHI_DISABLED:	/* disabled -> disabled: keys that could not be disarmed before */
			return GKHI_DISARM_KEYS | GKHI_TO_OFF;
		}
		break;
	}
	return 0;
}

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
	case GKHI_WHY_NO_PROBE:
		return "the kernel refuses a probe there";
	}
	return "?";
}
