// SPDX-License-Identifier: GPL-2.0-only
/*
 * module.c - modules with hooks: found when they are loaded, or when gkhi.ko is.
 *
 *   call                     context
 *   the notifier             task, module is COMING, LIVE or GOING
 *   gkhi_modules_init, _exit task
 *
 * A hooked module knows nothing of this. Its sections are found by the symbols that
 * gkhi.lds puts round them, in the module's own symbol table. A module that comes
 * is found after its jump labels and static calls were set up and before its init
 * function runs; one that goes, after its exit function ran and before its text
 * is freed.
 */
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "gkhi_core.h"

struct gkhi_hooked {
	struct list_head list;
	struct gkhi_module object;
	u32 n_hooks;
	u32 n_keys;
	struct gkhi_key keys[];
};

static DEFINE_MUTEX(gkhi_modules_mutex);
static LIST_HEAD(gkhi_hooked_modules);

/* -------------------------------------------------------------------- its symbols */

static const char *const gkhi_bounds[] = {
	"__start_gkhi_hooks", "__stop_gkhi_hooks", "__start_gkhi_sites",
	"__stop_gkhi_sites", "__start_gkhi_events", "__stop_gkhi_events",
};

#define GKHI_N_BOUNDS	ARRAY_SIZE(gkhi_bounds)

static void gkhi_bound(const char *name, unsigned long value, unsigned long *bound)
{
	int i;

	if (strncmp(name, "__st", 4))
		return;
	i = match_string(gkhi_bounds, GKHI_N_BOUNDS, name);
	if (i >= 0)
		bound[i] = value;
}

/* False: no hooks in there. */
static bool gkhi_module_bounds(struct module *mod, unsigned long *bound)
{
	struct mod_kallsyms *syms;
	unsigned int i;

	memset(bound, 0, GKHI_N_BOUNDS * sizeof(*bound));
	preempt_disable();
	syms = rcu_dereference_sched(mod->kallsyms);
	for (i = 1; syms && i < syms->num_symtab; i++)
		gkhi_bound(syms->strtab + syms->symtab[i].st_name, syms->symtab[i].st_value, bound);
	preempt_enable();
	for (i = 0; i < GKHI_N_BOUNDS; i += 2) {
		if (!bound[i] || bound[i] > bound[i + 1])
			return false;
	}
	return bound[1] - bound[0] >= sizeof(struct gkhi_hook);
}

/* ----------------------------------------------------------------------- its hooks */

/* How many jumps hang on the hook's key. */
static u32 gkhi_hook_jumps(const struct module *mod, const struct gkhi_hook *hook)
{
	u32 i, n = 0;

	for (i = 0; i < mod->num_jump_entries; i++)
		n += jump_entry_key(&mod->jump_entries[i]) == &hook->key.key;
	return n;
}

static int gkhi_hooked_hooks(struct gkhi_hooked *h, struct module *mod)
{
	struct gkhi_hook *hook = h->object.hooks_start;
	u32 i;

	for (i = 0; i < h->n_hooks; i++, hook++) {
		hook->count = alloc_percpu(struct gkhi_count);
		if (!hook->count)
			return -ENOMEM;
		hook->n_jumps = gkhi_hook_jumps(mod, hook);
		if (!hook->n_jumps)
			continue;
		h->keys[h->n_keys].code = &hook->key.key;
		h->keys[h->n_keys++].hook = hook;
	}
	return 0;
}

static void gkhi_hooked_free(struct gkhi_hooked *h)
{
	struct gkhi_hook *hook = h->object.hooks_start;
	u32 i;

	for (i = 0; i < h->n_hooks; i++, hook++) {
		free_percpu(hook->count);
		hook->count = NULL;
	}
	kvfree(h);
}

static struct gkhi_hooked *gkhi_hooked_new(struct module *mod, const unsigned long *bound)
{
	u32 n = (bound[1] - bound[0]) / sizeof(struct gkhi_hook);
	struct gkhi_hooked *h = kvzalloc(struct_size(h, keys, n), GFP_KERNEL);

	if (!h)
		return NULL;
	h->n_hooks = n;
	h->object.abi = GKHI_ABI_VERSION;
	h->object.hooks_start = (void *)bound[0];
	h->object.hooks_stop = (void *)bound[0] + n * sizeof(struct gkhi_hook);
	h->object.sites_start = (void *)bound[2];
	h->object.sites_stop = (void *)bound[3];
	h->object.events_start = (void *)bound[4];
	h->object.events_stop = (void *)bound[5];
	h->object.priv[0] = mod;
	if (gkhi_hooked_hooks(h, mod)) {
		gkhi_hooked_free(h);
		return NULL;
	}
	h->object.keys_start = h->keys;
	h->object.keys_stop = h->keys + h->n_keys;
	return h;
}

/* -------------------------------------------------------------------- come and go */

static struct gkhi_hooked *gkhi_hooked_find(const struct module *mod)
{
	struct gkhi_hooked *h;

	list_for_each_entry(h, &gkhi_hooked_modules, list) {
		if (h->object.priv[0] == mod)
			return h;
	}
	return NULL;
}

static void gkhi_module_come(struct module *mod)
{
	unsigned long bound[GKHI_N_BOUNDS];
	struct gkhi_hooked *h;
	int err = -ENOMEM;

	mutex_lock(&gkhi_modules_mutex);
	if (gkhi_hooked_find(mod) || !gkhi_module_bounds(mod, bound))
		goto unlock;
	h = gkhi_hooked_new(mod, bound);
	if (h) {
		port_control_lock();
		err = gkhi_core_add(&h->object);
		port_control_unlock();
	}
	if (!err) {
		list_add_tail(&h->list, &gkhi_hooked_modules);
	} else {
		pr_warn("gkhi: the hooks of module %s stay off: error %d\n", mod->name, err);
		if (h)
			gkhi_hooked_free(h);
	}
unlock:
	mutex_unlock(&gkhi_modules_mutex);
	if (!err)
		gkhi_sysfs_update(true);
}

/* What its hooks have counted stays with their entries. */
static void gkhi_hooked_keep_counts(struct gkhi_hooked *h)
{
	struct gkhi_hook *hook = h->object.hooks_start;
	u32 i;
	int cpu;

	for (i = 0; i < h->n_hooks; i++, hook++) {
		struct gkhi_hook_entry *e = hook->priv;

		for_each_possible_cpu(cpu) {
			const struct gkhi_count *c = per_cpu_ptr(hook->count, cpu);

			if (!e)
				continue;
			PORT_ADD(e->counters[0], c->hits);
			PORT_ADD(e->counters[1], c->lost);
		}
	}
}

/* The hooks stay what they were when the module was loaded: gkhi.ko may come again. */
static void gkhi_hooked_shut(struct gkhi_hooked *h)
{
	struct gkhi_hook *hook = h->object.hooks_start;
	u32 i;

	for (i = 0; i < h->n_hooks; i++, hook++) {
		WRITE_ONCE(hook->mode, GKHI_MODE_OFF);
		if (hook->n_jumps)
			static_key_disable(&hook->key.key);
		gkhi_call_update(hook, NULL);
	}
	port_synchronize();
}

/* @shut: its text stays, and may be running. */
static void gkhi_hooked_remove(struct gkhi_hooked *h, bool shut)
{
	gkhi_markers_lock();
	port_control_lock();
	if (shut)
		gkhi_hooked_shut(h);
	gkhi_hooked_keep_counts(h);
	gkhi_markers_drop(h->object.priv[0], shut);
	gkhi_core_remove(&h->object);
	port_control_unlock();
	gkhi_markers_unlock();
	list_del(&h->list);
	gkhi_hooked_free(h);
}

static void gkhi_module_go(struct module *mod)
{
	struct gkhi_hooked *h;

	mutex_lock(&gkhi_modules_mutex);
	h = gkhi_hooked_find(mod);
	if (h)
		gkhi_hooked_remove(h, false);
	mutex_unlock(&gkhi_modules_mutex);
	if (h)
		gkhi_sysfs_update(true);
}

static int gkhi_module_event(struct notifier_block *nb, unsigned long state, void *data)
{
	switch (state) {
	case MODULE_STATE_COMING:
	case MODULE_STATE_LIVE:		/* one that was coming already when gkhi.ko came */
		gkhi_module_come(data);
		break;
	case MODULE_STATE_GOING:
		gkhi_module_go(data);
		break;
	}
	return NOTIFY_OK;
}

/* After jump labels and static calls were set up when modules come. */
static struct notifier_block gkhi_module_notifier = {
	.notifier_call = gkhi_module_event,
	.priority = -10,
};

/* ------------------------------------------------------------------- there already */

/* All modules there are, each with a reference; their number or -ENOMEM. */
static int gkhi_modules_get(struct module ***mods)
{
	struct kset *kset = THIS_MODULE->mkobj.kobj.kset;
	struct module_kobject *mk;
	struct kobject *k;
	int n = 0, room = 64;

	spin_lock(&kset->list_lock);
	list_for_each_entry(k, &kset->list, entry)
		room++;
	spin_unlock(&kset->list_lock);
	*mods = kvcalloc(room, sizeof(**mods), GFP_KERNEL);
	if (!*mods)
		return -ENOMEM;
	spin_lock(&kset->list_lock);
	list_for_each_entry(k, &kset->list, entry) {
		mk = container_of(k, struct module_kobject, kobj);
		/* built-in ones have parameters only */
		if (n < room && mk->mod && mk->mod != THIS_MODULE && try_module_get(mk->mod))
			(*mods)[n++] = mk->mod;
	}
	spin_unlock(&kset->list_lock);
	return n;
}

int __init gkhi_modules_init(void)
{
	struct module **mods;
	int i, n, err;

	err = register_module_notifier(&gkhi_module_notifier);
	if (err)
		return err;
	n = gkhi_modules_get(&mods);
	if (n < 0) {
		unregister_module_notifier(&gkhi_module_notifier);
		return n;
	}
	for (i = 0; i < n; i++) {
		gkhi_module_come(mods[i]);
		module_put(mods[i]);
	}
	kvfree(mods);
	return 0;
}

void gkhi_modules_exit(void)
{
	struct gkhi_hooked *h, *next;

	unregister_module_notifier(&gkhi_module_notifier);
	mutex_lock(&gkhi_modules_mutex);
	list_for_each_entry_safe(h, next, &gkhi_hooked_modules, list)
		gkhi_hooked_remove(h, true);
	mutex_unlock(&gkhi_modules_mutex);
}
