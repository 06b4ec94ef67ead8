// SPDX-License-Identifier: MIT
/* Pads of every sort, for site_map_test.cc: it knows this file's lines. */
#include <gkhi/hook.h>

GKHI_DEFINE_BARE(fix_bare, "fix:bare", 0x11, 0x22, 2)
GKHI_DEFINE_HOOK(fix_cold, "fix:cold", 0x33, 0x44, 1)

struct packet {
	int length;
	const char *name;
};

/* Apart, for a pad on one line: compilers differ on which line of several it is. */
#define BARE_ARGUMENTS	GKHI_ARG("s", 4, "n", n_) GKHI_ARG("c", 1, "name", name_)

__attribute__((noinline)) int fixture_bare(struct packet *p, int n)
{
	gkhi_bare_fix_bare();
	GKHI_PAD(fix_bare, "fix:bare", 0x11, 0x22, 1, 2, BARE_ARGUMENTS, [n_] "nr"(n), [name_] "nr"(p->name));
	return n + p->length;
}

static __attribute__((noinline)) int fixture_cold(unsigned int value)
{
	if (gkhi_armed_fix_cold() && gkhi_to_pad_fix_cold())
		GKHI_PAD(fix_cold, "fix:cold", 0x33, 0x44, 0, 1, GKHI_ARG("u", 4, "value", value_), [value_] "nr"(value));
	return (int)value;
}

int fixture(struct packet *p);
int fixture(struct packet *p)
{
	return fixture_bare(p, 1) + fixture_cold(2);
}

#ifdef FIXTURE_MAIN
#include <unistd.h>

/* For the map of a process: says that it is there, then waits to be told to go. */
int main(void)
{
	struct packet p = { 3, "three" };
	char byte = (char)fixture(&p);

	return write(1, &byte, 1) == 1 && read(0, &byte, 1) >= 0 ? 0 : 1;
}
#endif
