// SPDX-License-Identifier: GPL-2.0-only
/*
 * data_file.c - /dev/gkhi/CHANNEL.CPU: read, poll, ioctl, mmap. gkhi/data.h says
 * what they do, data_stream.h which locks there are.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "data_stream.h"

/* How often who waits looks, where no writer wakes anybody. */
#define GKHI_DATA_LOOK	(HZ / 10)

/*
 * An open file. The packet that is being read lies at @packet, [@at, @size) of it is
 * left; @lock orders the threads that share the file.
 */
struct gkhi_data_file {
	struct mutex lock;
	struct gkhi_data_stream *stream;
	struct gkhi_data_cursor cursor;
	u32 resets;
	struct gkhi_packet *packet;
	size_t at;
	size_t size;
};

static bool gkhi_data_ended(const struct gkhi_data_file *f)
{
	return f->cursor.ends && f->cursor.next >= f->cursor.end;
}

/* Would read() return now, with data or without? */
static bool gkhi_data_ready(const struct gkhi_data_file *f)
{
	const struct gkhi_data *data = f->stream->data;

	return f->at < f->size || smp_load_acquire(&data->gone) || gkhi_data_ended(f) ||
	       data->ops->readable(data->transport, f->stream->cpu, &f->cursor);
}

/* The content was forgotten: so is this reader's place. The stream's lock is held. */
static void gkhi_data_follow_reset(struct gkhi_data_file *f)
{
	struct gkhi_data_stream *s = f->stream;

	if (f->resets == s->resets)
		return;
	f->resets = s->resets;
	s->data->ops->begin(s->data->transport, s->cpu, &f->cursor);
}

/* The next packet, as a trace file has it. 1 or 0. */
static int gkhi_data_next(struct gkhi_data_file *f)
{
	struct gkhi_data_stream *s = f->stream;
	const struct gkhi_data *data = s->data;
	int got;

	mutex_lock(&s->lock);
	gkhi_data_follow_reset(f);
	got = !gkhi_data_ended(f) && data->ops->read(data->transport, s->cpu, &f->cursor, f->packet);
	mutex_unlock(&s->lock);
	if (!got)
		return 0;
	f->packet->packet_size = f->packet->content_size;
	f->at = 0;
	f->size = min_t(u64, f->packet->content_size / 8, data->config.subbuf_size);
	return 1;
}

/* As many bytes as there are now. 0: none; -EFAULT. */
static ssize_t gkhi_data_take(struct gkhi_data_file *f, char __user *to, size_t count)
{
	size_t done = 0, n;

	while (done < count && (f->at < f->size || gkhi_data_next(f))) {
		n = min(count - done, f->size - f->at);
		n -= copy_to_user(to + done, (char *)f->packet + f->at, n);
		if (!n)
			return done ?: -EFAULT;
		f->at += n;
		done += n;
		if (signal_pending(current))
			break;
	}
	return done;
}

static int gkhi_data_wait(struct gkhi_data_file *f)
{
	struct gkhi_data_stream *s = f->stream;
	long left;

	if (s->data->ops->readers)
		return wait_event_interruptible(*gkhi_data_readers(s), gkhi_data_ready(f));
	do
		left = wait_event_interruptible_timeout(s->lookers, gkhi_data_ready(f), GKHI_DATA_LOOK);
	while (!left);
	return left < 0 ? left : 0;
}

static ssize_t gkhi_data_read(struct file *file, char __user *to, size_t count, loff_t *at)
{
	struct gkhi_data_file *f = file->private_data;
	struct gkhi_data_stream *s = f->stream;
	bool gone;
	ssize_t n;

	if (!count)
		return 0;
	for (;;) {
		gone = smp_load_acquire(&s->data->gone);
		if (mutex_lock_interruptible(&f->lock))
			return -ERESTARTSYS;
		n = gkhi_data_take(f, to, count);
		mutex_unlock(&f->lock);
		/* gone before we looked: nothing comes any more */
		if (n || gone || gkhi_data_ended(f))
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (gkhi_data_wait(f))
			return -ERESTARTSYS;
	}
}

static __poll_t gkhi_data_poll(struct file *file, poll_table *wait)
{
	struct gkhi_data_file *f = file->private_data;
	struct gkhi_data_stream *s = f->stream;
	__poll_t events = 0;

	poll_wait(file, gkhi_data_readers(s), wait);
	/* poll_wait() has put us on the queue before what follows looks */
	smp_mb();
	if (gkhi_data_ready(f))
		events = EPOLLIN | EPOLLRDNORM;
	else if (!s->data->ops->readers)
		mod_delayed_work(system_wq, &s->look, GKHI_DATA_LOOK);
	if (READ_ONCE(s->data->gone))
		events |= EPOLLHUP;
	return events;
}

static void gkhi_data_info(struct gkhi_data_stream *s, struct gkhi_data_info *info)
{
	const struct gkhi_data *data = s->data;

	info->version = GKHI_DATA_VERSION;
	info->flags = (data->managed ? GKHI_DATA_MANAGED : 0) | (READ_ONCE(data->gone) ? GKHI_DATA_GONE : 0);
	info->cpu = s->cpu;
	info->mode = data->config.mode;
	info->stream_class = data->config.stream_class;
	info->subbuf_size = data->config.subbuf_size;
	info->n_subbufs = data->config.n_subbufs;
	memcpy(info->uuid, gkhi_uuid, sizeof(info->uuid));
	strscpy(info->channel, data->config.name, sizeof(info->channel));
	data->ops->info(data->transport, s->cpu, info);
}

/* What a command answers with. */
union gkhi_data_answer {
	struct gkhi_data_info info;
	struct gkhi_data_place place;
};

/* The stream's lock is held. 0 or -errno. */
static int gkhi_data_command(struct gkhi_data_file *f, unsigned int command, union gkhi_data_answer *answer)
{
	struct gkhi_data_stream *s = f->stream;
	const struct gkhi_data *data = s->data;

	gkhi_data_follow_reset(f);
	switch (command) {
	case GKHI_DATA_INFO:
		gkhi_data_info(s, &answer->info);
		return 0;
	case GKHI_DATA_FLUSH:
		data->ops->flush(data->transport, s->cpu);
		return 0;
	case GKHI_DATA_SNAPSHOT:
		data->ops->flush(data->transport, s->cpu);
		f->cursor.end = data->ops->head(data->transport, s->cpu);
		f->cursor.ends = true;
		return 0;
	case GKHI_DATA_NEXT:
		answer->place.size = data->config.subbuf_size;
		if (!data->managed)
			return -EOPNOTSUPP;
		if (gkhi_data_ended(f) ||
		    !data->ops->peek(data->transport, s->cpu, &f->cursor, &answer->place.offset))
			return -EAGAIN;
		return 0;
	case GKHI_DATA_DONE:
		if (!data->managed)
			return -EOPNOTSUPP;
		data->ops->done(data->transport, s->cpu, &f->cursor);
		return 0;
	default:
		return -ENOTTY;
	}
}

static long gkhi_data_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct gkhi_data_file *f = file->private_data;
	union gkhi_data_answer answer = {};
	int err;

	mutex_lock(&f->stream->lock);
	err = gkhi_data_command(f, command, &answer);
	mutex_unlock(&f->stream->lock);
	if (err || !(_IOC_DIR(command) & _IOC_READ))
		return err;
	return copy_to_user((void __user *)arg, &answer, _IOC_SIZE(command)) ? -EFAULT : 0;
}

static vm_fault_t gkhi_data_fault(struct vm_fault *fault)
{
	struct gkhi_data_stream *s = ((struct gkhi_data_file *)fault->vma->vm_file->private_data)->stream;
	struct page *page = s->data->ops->page(s->data->transport, s->cpu, fault->pgoff);

	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	fault->page = page;
	return 0;
}

static const struct vm_operations_struct gkhi_data_vm_ops = {
	.fault = gkhi_data_fault,
};

static int gkhi_data_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct gkhi_data *data = ((struct gkhi_data_file *)file->private_data)->stream->data;
	u64 pages = (u64)data->config.subbuf_size * data->config.n_subbufs >> PAGE_SHIFT;

	if (!data->managed)
		return -ENODEV;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if (vma->vm_pgoff > pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	gkhi_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_ops = &gkhi_data_vm_ops;
	return 0;
}

static int gkhi_data_file_open(struct inode *inode, struct file *file)
{
	struct gkhi_data_stream *s = file->private_data;
	struct gkhi_data *data = s->data;
	struct gkhi_data_file *f;
	int err = -ENOMEM;

	if (file->f_mode & FMODE_WRITE)
		return -EPERM;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	f->packet = kvmalloc(data->config.subbuf_size, GFP_KERNEL_ACCOUNT);
	if (!f->packet)
		goto out_file;
	mutex_init(&f->lock);
	f->stream = s;
	mutex_lock(&s->lock);
	err = data->managed && s->consumer ? -EBUSY : 0;
	if (!err) {
		s->consumer = data->managed;
		f->resets = s->resets;
		data->ops->begin(data->transport, s->cpu, &f->cursor);
	}
	mutex_unlock(&s->lock);
	if (err)
		goto out_packet;
	kref_get(&data->ref);
	file->private_data = f;
	return nonseekable_open(inode, file);

out_packet:
	kvfree(f->packet);
out_file:
	kfree(f);
	return err;
}

static int gkhi_data_file_release(struct inode *inode, struct file *file)
{
	struct gkhi_data_file *f = file->private_data;
	struct gkhi_data_stream *s = f->stream;

	mutex_lock(&s->lock);
	s->consumer = false;
	mutex_unlock(&s->lock);
	gkhi_data_put(s->data);
	kvfree(f->packet);
	kfree(f);
	return 0;
}

const struct file_operations gkhi_data_fops = {
	.owner = THIS_MODULE,
	.open = gkhi_data_file_open,
	.release = gkhi_data_file_release,
	.read = gkhi_data_read,
	.poll = gkhi_data_poll,
	.unlocked_ioctl = gkhi_data_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = gkhi_data_mmap,
};
