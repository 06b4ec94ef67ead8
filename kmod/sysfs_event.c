// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs_event.c - events/enable, events/PROVIDER/enable and the files of each
 * event: state, effective, channel, sites, hits, lost, id.
 *
 * An event has its folder while a module with such hooks is loaded. Of two layouts
 * of one name, the second one's folder is called NAME.LAYOUT.
 */
#include <linux/ctype.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "sysfs.h"

struct gkhi_provider_dir {
	struct kobject kobj;
	struct list_head list;
	u32 users;
};

struct gkhi_event_dir {
	struct kobject kobj;
	struct list_head list;
	struct gkhi_provider_dir *provider;
	struct gkhi_hook_entry *entry;
};

static LIST_HEAD(gkhi_provider_dirs);
static LIST_HEAD(gkhi_event_dirs);
static struct kobject *gkhi_events;

static struct gkhi_hook_entry *gkhi_entry_of(struct kobject *kobj)
{
	return container_of(kobj, struct gkhi_event_dir, kobj)->entry;
}

/* --------------------------------------------------------------------------- state */

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_hook_entry *e = gkhi_entry_of(kobj);

	return sysfs_emit(buf, "%s\n", gkhi_state_name(READ_ONCE(e->state)));
}

static ssize_t state_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	static const char *const names[] = { "disabled", "static", "marker", "on", "default" };
	struct gkhi_hook_entry *e = gkhi_entry_of(kobj);
	char batch[288];
	size_t n;
	int i, err;

	err = gkhi_store_word(buf, len, &n);
	if (err)
		return err;
	i = sysfs_match_string(names, buf);
	if (i < 0)
		return -EINVAL;
	snprintf(batch, sizeof(batch), "%s=%s", e->name, names[i]);
	return gkhi_store_batch(batch, len);
}

static ssize_t effective_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_hook_entry *e = gkhi_entry_of(kobj);
	enum gkhi_state state;
	enum gkhi_why why;

	port_control_lock();
	state = e->effective;
	why = e->why;
	if (why == GKHI_WHY_ARMING)
		state = GKHI_MARKER;
	else if (state == GKHI_MARKER && why == GKHI_WHY_OK)
		why = gkhi_markers_why(e);
	port_control_unlock();
	if (why == GKHI_WHY_OK)
		return sysfs_emit(buf, "%s\n", gkhi_state_name(state));
	return sysfs_emit(buf, "%s (%s)\n", gkhi_state_name(state), gkhi_why_text(why));
}

/* ------------------------------------------------------------------------- channel */

static ssize_t channel_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_hook_entry *e = gkhi_entry_of(kobj);
	ssize_t n = 0;
	u32 i;

	port_control_lock();
	for (i = 0; e->routing && i < e->routing->n; i++)
		n += sysfs_emit_at(buf, n, "%s%s", i ? "," : "", e->routing->channel[i]->config.name);
	if (!e->routing)
		n += sysfs_emit_at(buf, n, "%s", e->event && e->event->default_channel ?
				   e->event->default_channel : "main");
	port_control_unlock();
	return n + sysfs_emit_at(buf, n, "\n");
}

static ssize_t channel_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	struct gkhi_hook_entry *e = gkhi_entry_of(kobj);
	ssize_t done;
	char *batch;
	size_t n;
	int err;

	err = gkhi_store_word(buf, len, &n);
	if (err)
		return err;
	batch = kasprintf(GFP_KERNEL, "%s channel=%.*s", e->name, (int)n, buf);
	if (!batch)
		return -ENOMEM;
	done = gkhi_store_batch(batch, len);
	kfree(batch);
	return done;
}

/* ------------------------------------------------------------------------- numbers */

static ssize_t sites_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u32 n;

	port_control_lock();
	n = gkhi_entry_sites(gkhi_entry_of(kobj));
	port_control_unlock();
	return sysfs_emit(buf, "%u\n", n);
}

static ssize_t hits_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_totals totals;

	port_control_lock();
	gkhi_entry_totals(gkhi_entry_of(kobj), &totals);
	port_control_unlock();
	return sysfs_emit(buf, "%llu\n", totals.hits);
}

static ssize_t lost_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct gkhi_totals totals;

	port_control_lock();
	gkhi_entry_totals(gkhi_entry_of(kobj), &totals);
	port_control_unlock();
	return sysfs_emit(buf, "%llu\n", totals.lost);
}

static ssize_t id_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", gkhi_entry_of(kobj)->id);
}

static struct kobj_attribute state_attr = __ATTR_RW_MODE(state, 0600);
static struct kobj_attribute effective_attr = __ATTR_RO_MODE(effective, 0400);
static struct kobj_attribute channel_attr = __ATTR_RW_MODE(channel, 0600);
static struct kobj_attribute sites_attr = __ATTR_RO_MODE(sites, 0400);
static struct kobj_attribute hits_attr = __ATTR_RO_MODE(hits, 0400);
static struct kobj_attribute lost_attr = __ATTR_RO_MODE(lost, 0400);
static struct kobj_attribute id_attr = __ATTR_RO_MODE(id, 0400);

static struct attribute *gkhi_event_attrs[] = {
	&state_attr.attr, &effective_attr.attr, &channel_attr.attr, &sites_attr.attr,
	&hits_attr.attr, &lost_attr.attr, &id_attr.attr, NULL,
};
ATTRIBUTE_GROUPS(gkhi_event);

static void gkhi_event_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct gkhi_event_dir, kobj));
}

static const struct kobj_type gkhi_event_ktype = {
	.release = gkhi_event_dir_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = gkhi_event_groups,
};

/* -------------------------------------------------------------------------- enable */

/* "0", "1", or "X" when some are on; @provider NULL: of all. */
static ssize_t gkhi_enable_show(const char *provider, char *buf)
{
	struct gkhi_hook_entry *e;
	bool on = false, off = false;

	port_control_lock();
	for (e = gkhi_core_next(NULL); e; e = gkhi_core_next(e)) {
		if (!e->hooks || (provider && strcmp(e->provider->name, provider)))
			continue;
		if (e->state == GKHI_DISABLED)
			off = true;
		else
			on = true;
	}
	port_control_unlock();
	return sysfs_emit(buf, "%s\n", on && off ? "X" : on ? "1" : "0");
}

static ssize_t gkhi_enable_store(const char *provider, const char *buf, size_t len)
{
	char batch[288];
	size_t n;
	int err;

	err = gkhi_store_word(buf, len, &n);
	if (err)
		return err;
	if (n != 1 || (buf[0] != '0' && buf[0] != '1'))
		return -EINVAL;
	snprintf(batch, sizeof(batch), "%s:* %s", provider, buf[0] == '1' ? "+on" : "-");
	return gkhi_store_batch(batch, len);
}

static ssize_t all_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return gkhi_enable_show(NULL, buf);
}

static ssize_t all_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	return gkhi_enable_store("*", buf, len);
}

static struct kobj_attribute all_attr = __ATTR(enable, 0600, all_show, all_store);

static ssize_t enable_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return gkhi_enable_show(kobject_name(kobj), buf);
}

static ssize_t enable_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t len)
{
	return gkhi_enable_store(kobject_name(kobj), buf, len);
}

static struct kobj_attribute enable_attr = __ATTR_RW_MODE(enable, 0600);

static struct attribute *gkhi_provider_attrs[] = { &enable_attr.attr, NULL };
ATTRIBUTE_GROUPS(gkhi_provider);

static void gkhi_provider_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct gkhi_provider_dir, kobj));
}

static const struct kobj_type gkhi_provider_ktype = {
	.release = gkhi_provider_dir_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = gkhi_provider_groups,
};

/* ------------------------------------------------------------------------- folders */

static struct gkhi_provider_dir *gkhi_provider_dir_get(const char *name)
{
	struct gkhi_provider_dir *p;

	list_for_each_entry(p, &gkhi_provider_dirs, list) {
		if (!strcmp(kobject_name(&p->kobj), name)) {
			p->users++;
			return p;
		}
	}
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return NULL;
	p->users = 1;
	if (kobject_init_and_add(&p->kobj, (struct kobj_type *)&gkhi_provider_ktype, gkhi_events, "%s", name)) {
		kobject_put(&p->kobj);
		return NULL;
	}
	list_add_tail(&p->list, &gkhi_provider_dirs);
	return p;
}

static void gkhi_provider_dir_put(struct gkhi_provider_dir *p)
{
	if (--p->users)
		return;
	list_del(&p->list);
	kobject_put(&p->kobj);
}

static struct gkhi_event_dir *gkhi_event_dir_find(const struct gkhi_hook_entry *e)
{
	struct gkhi_event_dir *d;

	list_for_each_entry(d, &gkhi_event_dirs, list) {
		if (d->entry == e)
			return d;
	}
	return NULL;
}

/* Is there a folder of this name already, of another layout? */
static bool gkhi_event_dir_taken(const struct gkhi_hook_entry *e)
{
	const struct gkhi_event_dir *d;

	list_for_each_entry(d, &gkhi_event_dirs, list) {
		if (!strcmp(d->entry->name, e->name))
			return true;
	}
	return false;
}

static int gkhi_event_dir_add(struct gkhi_hook_entry *e)
{
	struct gkhi_event_dir *d = kzalloc(sizeof(*d), GFP_KERNEL);
	char layout[20] = "";
	int err = -ENOMEM;

	if (!d)
		return -ENOMEM;
	d->entry = e;
	d->provider = gkhi_provider_dir_get(e->provider->name);
	if (!d->provider) {
		kfree(d);
		return -ENOMEM;
	}
	if (gkhi_event_dir_taken(e))
		snprintf(layout, sizeof(layout), ".%016llx", e->layout);
	err = kobject_init_and_add(&d->kobj, (struct kobj_type *)&gkhi_event_ktype, &d->provider->kobj, "%s%s",
				   gkhi_entry_event_name(e), layout);
	if (err) {
		gkhi_provider_dir_put(d->provider);
		kobject_put(&d->kobj);
		return err;
	}
	list_add_tail(&d->list, &gkhi_event_dirs);
	return 0;
}

static void gkhi_event_dir_remove(struct gkhi_event_dir *d)
{
	struct gkhi_provider_dir *provider = d->provider;

	list_del(&d->list);
	kobject_del(&d->kobj);
	kobject_put(&d->kobj);
	gkhi_provider_dir_put(provider);
}

/* The @i-th entry, which stays as long as gkhi.ko; *here: a module has such hooks. */
static struct gkhi_hook_entry *gkhi_entry_at(u32 i, bool *here)
{
	struct gkhi_hook_entry *e = NULL;

	port_control_lock();
	if (i < gkhi_core.n_entries) {
		e = gkhi_core.entry[i];
		*here = e->hooks;
	}
	port_control_unlock();
	return e;
}

void gkhi_event_dirs_update(void)
{
	struct gkhi_hook_entry *e;
	struct gkhi_event_dir *d;
	bool here;
	u32 i;

	/* first away with the old: a name may be wanted again */
	for (i = 0; (e = gkhi_entry_at(i, &here)); i++) {
		d = here ? NULL : gkhi_event_dir_find(e);
		if (d)
			gkhi_event_dir_remove(d);
	}
	for (i = 0; (e = gkhi_entry_at(i, &here)); i++) {
		if (!here || gkhi_event_dir_find(e))
			continue;
		if (gkhi_event_dir_add(e))
			pr_warn("gkhi: no folder for %s: it can be switched through /dev/gkhi/control\n", e->name);
	}
}

int __init gkhi_event_dirs_init(struct kobject *root)
{
	int err;

	gkhi_events = kobject_create_and_add("events", root);
	if (!gkhi_events)
		return -ENOMEM;
	err = sysfs_create_file(gkhi_events, &all_attr.attr);
	if (err)
		kobject_put(gkhi_events);
	return err;
}

void gkhi_event_dirs_exit(void)
{
	struct gkhi_event_dir *d, *next;

	list_for_each_entry_safe(d, next, &gkhi_event_dirs, list)
		gkhi_event_dir_remove(d);
	kobject_put(gkhi_events);
}
