// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * client.c - programs that write to a channel without hooks: open and close.
 *
 *   call                                   context                      may run against
 *   gkhi_channel_open, gkhi_channel_close  T, takes the control lock    reserve and commit of others
 */
#include <gkhi/channel_api.h>

#include "client.h"

/* As genevent writes it for: {name: raw, fields: [{name: data, type: binary, max: 32768}]}. */
static const struct gkhi_field gkhi_raw_fields[] = {
	{
		.name = "data",
		.type = GKHI_T_BINARY,
		.size = 1,
		.form = GKHI_FORM_SEQUENCE,
		.show = GKHI_SHOW_HEX,
		.offset = GKHI_NO_OFFSET,
		.len_offset = 0,
		.max = GKHI_RAW_MAX,
	},
};

static const struct gkhi_event gkhi_raw_event = {
	.abi = GKHI_ABI_VERSION,
	.states = GKHI_HAS_STATIC | GKHI_HAS_MARKER,
	.stability = GKHI_STABLE,
	.loglevel = 6,
	.layout = GKHI_RAW_LAYOUT,
	.provider = "gkhi",
	.name = "raw",
	.doc = "Bytes of a program that writes to a channel without a declaration.",
	.message = "data={data}",
	.default_channel = "main",
	.fields = gkhi_raw_fields,
	.n_fields = 1,
	.fixed_words = 1,
	.n_tails = 1,
	.max_words = 1 + GKHI_RAW_MAX / 8,
	.json = "{\"layout\":\"0x9c2622e3bd939695\",\"provider\":\"gkhi\",\"name\":\"raw\",\"doc\":\"Bytes of a program "
		"that writes to a channel without a declaration.\",\"message\":\"data={data}\",\"kind\":\"event\","
		"\"stability\":2,\"since\":1,\"loglevel\":6,\"states\":[\"static\",\"marker\"],\"fixed_words\":1,"
		"\"max_words\":4097,\"fields\":[{\"name\":\"data\",\"declared\":\"binary\",\"type\":\"b\",\"size\":1,"
		"\"form\":2,\"show\":1,\"len_offset\":0,\"max\":32768,\"doc\":\"the bytes\"}]}",
	.ctf = "struct { integer { size = 32; align = 32; signed = false; } __data_len; struct { } "
	       "align(64) __pad_0; integer { size = 8; align = 8; signed = false; base = 16; } "
	       "data[__data_len]; struct { } align(64) __end; }",
};

uint32_t gkhi_raw_id;

/* The name is the first word of what a channel statement says. */
static struct gkhi_channel *gkhi_client_channel(const char *what)
{
	size_t n;

	while (*what == ' ' || *what == '\t')
		what++;
	n = strcspn(what, " \t\n;#");
	return gkhi_channel_find(what, n);
}

static int gkhi_client_say(char *error, size_t size, const char *what, int err)
{
	struct gkhi_text t = { error, size, 0 };

	gkhi_text_str(&t, what);
	return err;
}

static int gkhi_client_batch(const char *what, char *error, size_t size)
{
	char batch[512];
	struct gkhi_text t = { batch, sizeof(batch), 0 };

	if (strlen(what) > sizeof(batch) - sizeof("channel ") || strpbrk(what, ";\n"))
		return gkhi_client_say(error, size, "wanted the name and the options of one channel", -EINVAL);
	gkhi_text_str(&t, "channel ");
	gkhi_text_str(&t, what);
	return gkhi_batch_run(batch, t.len, 0, error, size);
}

static int gkhi_client_declare(struct gkhi_channel *ch, char *error, size_t size)
{
	struct gkhi_hook_entry *e = gkhi_entry_of_event(&gkhi_raw_event);
	int err;

	if (!e || !e->id)
		return gkhi_client_say(error, size, e ? "more than 65534 events" : "out of memory", -ENOMEM);
	gkhi_raw_id = e->id;
	err = port_event_declare(e->event, e->id, ch->config.stream_class);
	return err ? gkhi_client_say(error, size, "the metadata could not be written", err) : 0;
}

static int gkhi_client_open(const char *what, struct gkhi_channel **channel, char *error, size_t size)
{
	struct gkhi_channel *ch;
	int err = gkhi_client_batch(what, error, size);

	if (err)
		return err;
	ch = gkhi_client_channel(what);
	if (!ch)	/* "NAME -" */
		return gkhi_client_say(error, size, "wanted a channel to open", -EINVAL);
	if (!ch->backend->reserve)
		return gkhi_client_say(error, size, "this backend takes the events of hooks only", -EOPNOTSUPP);
	err = gkhi_client_declare(ch, error, size);
	if (err)
		return err;
	ch->flags |= GKHI_CHANNEL_CLIENT;
	*channel = ch;
	return 0;
}

int gkhi_channel_open(const char *what, struct gkhi_channel **channel, char *error, size_t size)
{
	int err;

	if (!what || !channel)
		return -EINVAL;
	if (!error)
		size = 0;
	if (port_read_held())
		return -EDEADLK;
	port_control_lock();
	err = gkhi_client_open(what, channel, error, size);
	port_control_unlock();
	return err;
}

int gkhi_channel_close(struct gkhi_channel *channel)
{
	if (port_read_held())
		return -EDEADLK;
	port_control_lock();
	channel->flags &= ~GKHI_CHANNEL_CLIENT;
	if (channel->flags & GKHI_CHANNEL_OPEN && channel->backend->finalize)
		channel->backend->finalize(channel);
	port_channels_changed();
	port_control_unlock();
	return 0;
}
