// SPDX-License-Identifier: GPL-2.0-only
/*
 * stub.c - what the hooks' static calls call, when no backend has anything better.
 *
 *   call                    context                        may run against
 *   gkhi_stub_*             any up to NMI, preemption off  everything
 *   port_stub               task, control lock held        stubs
 *   gkhi_stubs_forget       task, control lock held        stubs
 */
#include <linux/kernel.h>

#include "gkhi_core.h"

/* Not NULL, which a static call can be patched to: others call hook->stub as well. */
void gkhi_stub_none(struct gkhi_hook *hook, const u64 *frame)
{
}

void gkhi_stub_generic(struct gkhi_hook *hook, const u64 *frame)
{
	gkhi_dispatch(hook, frame);
}

/* A backend's own stub, when the route is one that it made. */
const void *port_stub(const struct gkhi_event *event, const struct gkhi_route *route)
{
	const struct gkhi_kernel_backend *kind = route->priv[GKHI_ROUTE_KIND];
	gkhi_stub_fn stub = NULL;

	if (!route->exits && kind && kind->stub)
		stub = kind->stub(event, route);
	return stub ? stub : gkhi_stub_generic;
}

/*
 * gkhi_stubs_forget - no hook calls into @owner any more when this returns
 * @owner: a backend's module, whose channels are all gone; NULL: whatever it is
 */
void gkhi_stubs_forget(const struct module *owner)
{
	struct gkhi_hook_entry *e;
	struct gkhi_hook_ref *ref;

	for (e = gkhi_core_next(NULL); e; e = gkhi_core_next(e)) {
		if (!owner || within_module((unsigned long)e->stub, owner)) {
			e->stub = NULL;
			e->stub_route = NULL;
		}
		for (ref = e->hooks; ref; ref = ref->next) {
			if (!owner || within_module((unsigned long)ref->hook->call, owner))
				gkhi_call_update(ref->hook, NULL);
		}
	}
	port_synchronize();
}
