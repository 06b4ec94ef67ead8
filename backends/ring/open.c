// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * open.c - the ring's control side: make it, count it, forget it, let it go.
 *
 *   call                     context              may run against
 *   open, close              control lock held    nothing of this ring (close: after
 *                                                 the grace period)
 *   finalize, reset, stats   control lock held    writers, readers
 */
#include "../backends.h"
#include "ring.h"

#define DEFAULT_SUBBUF	(256u << 10)
#define DEFAULT_SUBBUFS	8u

#define COUNTERS_SIZE	(8ull * GKHI_RING_COUNTERS)

_Static_assert(sizeof(struct gkhi_packet) == GKHI_PACKET_HEADER, "the packet header on the page");
_Static_assert(sizeof(struct gkhi_ring_file) <= GKHI_RING_PAGE, "page 0");
_Static_assert(sizeof(struct gkhi_ring_cpu) == 256, "four cache lines");
_Static_assert(GKHI_RC_HITS == -(long)COUNTERS_SIZE && GKHI_RC_LOST == -2 * (long)COUNTERS_SIZE,
	       "counters lie in front of the stream");

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int check(struct gkhi_channel_config *config)
{
	if (!config->subbuf_size)
		config->subbuf_size = DEFAULT_SUBBUF;
	if (!config->n_subbufs)
		config->n_subbufs = DEFAULT_SUBBUFS;
	if (!power_of_two(config->subbuf_size) || !power_of_two(config->n_subbufs) ||
	    config->subbuf_size < GKHI_SUBBUF_MIN || config->subbuf_size > GKHI_SUBBUF_MAX ||
	    config->n_subbufs < GKHI_N_SUBBUFS_MIN ||
	    (uint64_t)config->subbuf_size * config->n_subbufs > GKHI_RING_DATA_MAX)
		return -EINVAL;
	if (config->mode > GKHI_RING_DISCARD || config->stream_class >= GKHI_N_STREAM_CLASSES)
		return -EINVAL;
	return 0;
}

static void copy_name(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	to[i] = 0;
}

static void file_name(char name[sizeof(((struct gkhi_ring_file *)0)->channel) + 8], const struct gkhi_channel *ch)
{
	size_t n;

	copy_name(name, sizeof(ch->config.name), ch->config.name);
	for (n = 0; name[n]; n++)
		;
	copy_name(name + n, 6, ".ring");
}

static void fill_file(struct gkhi_ring_file *file, const struct gkhi_channel_config *config, uint32_t n_cpus)
{
	file->version = GKHI_RING_VERSION;
	file->header_size = sizeof(*file);
	memcpy(file->uuid, port_uuid(), sizeof(file->uuid));
	file->pid = port_pid();
	file->mode = config->mode;
	file->stream_class = config->stream_class;
	file->n_cpus = n_cpus;
	file->n_streams = n_cpus + 1;
	file->subbuf_size = config->subbuf_size;
	file->n_subbufs = config->n_subbufs;
	file->n_counters = GKHI_RING_COUNTERS;
	file->lost_offset = 0;
	file->hits_offset = COUNTERS_SIZE;
	file->cpu_offset = 2 * COUNTERS_SIZE;
	file->data_offset = file->cpu_offset + GKHI_RC_DATA;
	file->stride = file->data_offset + (uint64_t)config->subbuf_size * config->n_subbufs;
	copy_name(file->channel, sizeof(file->channel), config->name);
}

/* Packet 0 of every stream is open before anybody can write. */
static void open_stream(const struct gkhi_ring *ring, uint32_t i)
{
	struct gkhi_ring_cpu *rc = ring->cpu[i];
	struct gkhi_packet *packet = gkhi_ring_packet(ring, rc, 0);

	rc->subbuf_size = ring->subbuf_size;
	packet->timestamp_begin = port_clock();
	gkhi_ring_fill_packet(ring, rc, i < ring->n_cpus ? i : GKHI_CPU_NONE, packet);
	/* The first event takes the slow path and stores the deadline: nothing is to be told twice. */
	rc->deadline = 0;
	PORT_STORE_RELEASE(rc->commit, GKHI_PACKET_HEADER - 8);
}

/* The route of hooks that go to this ring alone: stubs of its class may use it. */
static struct gkhi_route *make_route(struct gkhi_channel *ch, const struct gkhi_ring *ring)
{
	struct gkhi_route *route = port_alloc(sizeof(*route) + ring->file->n_streams * sizeof(route->cpu[0]));

	if (!route)
		return NULL;
	route->channel = ch;
	for (uint32_t i = 0; i <= ring->n_cpus; i++)
		route->cpu[i] = ring->cpu[i];
	/* The stubs know one clock. */
	if (ring->stream_class == GKHI_STREAM_NOCLOCK || port_clock_is_tsc())
		route->n_cpus[ring->stream_class] = ring->n_cpus;
	return route;
}

static int map_ring(struct gkhi_channel *ch, struct gkhi_ring *ring, uint32_t n_cpus)
{
	const struct gkhi_channel_config *config = &ch->config;
	struct gkhi_ring_file layout = { 0 };
	char name[sizeof(layout.channel) + 8];
	void *addr;
	int err;

	fill_file(&layout, config, n_cpus);
	ring->size = GKHI_RING_PAGE + layout.n_streams * layout.stride;
	file_name(name, ch);
	err = port_shm_create(name, ring->size, &addr);
	if (err)
		return err;
	ring->file = addr;
	*ring->file = layout;
	ring->n_cpus = n_cpus;
	ring->stream_class = config->stream_class;
	ring->mode = config->mode;
	ring->subbuf_size = config->subbuf_size;
	ring->n_subbufs = config->n_subbufs;
	ring->shift = (uint32_t)__builtin_ctz(config->subbuf_size);
	for (uint32_t i = 0; i <= n_cpus; i++) {
		ring->cpu[i] = (void *)((char *)addr + GKHI_RING_PAGE + i * layout.stride + layout.cpu_offset);
		open_stream(ring, i);
	}
	/* Last: a reader that finds the magic finds the rest. */
	PORT_STORE_RELEASE(ring->file->magic, GKHI_RING_MAGIC);
	return 0;
}

static size_t ring_bytes(uint32_t n_cpus)
{
	return sizeof(struct gkhi_ring) + (n_cpus + 1) * sizeof(struct gkhi_ring_cpu *);
}

static void unmap_ring(struct gkhi_channel *ch, struct gkhi_ring *ring)
{
	char name[sizeof(ring->file->channel) + 8];

	file_name(name, ch);
	port_shm_remove(name, ring->file, ring->size);
}

static int ring_open(struct gkhi_channel *ch)
{
	uint32_t n_cpus = port_n_cpus();
	struct gkhi_ring *ring;
	int err = check(&ch->config);

	if (err)
		return err;
	ring = port_alloc(ring_bytes(n_cpus));
	if (!ring)
		return -ENOMEM;
	err = map_ring(ch, ring, n_cpus);
	if (err)
		goto free_ring;
	err = -ENOMEM;
	ring->slots = port_alloc(GKHI_RING_SLOTS * sizeof(*ring->slots));
	if (!ring->slots)
		goto unmap;
	ch->route = make_route(ch, ring);
	if (!ch->route)
		goto free_slots;
	ch->priv[0] = ring;
	return 0;

free_slots:
	port_free(ring->slots, GKHI_RING_SLOTS * sizeof(*ring->slots));
unmap:
	unmap_ring(ch, ring);
free_ring:
	port_free(ring, ring_bytes(n_cpus));
	return err;
}

static void ring_close(struct gkhi_channel *ch)
{
	struct gkhi_ring *ring = gkhi_ring_of(ch);
	uint32_t n_cpus = ring->n_cpus;

	port_free(ch->route, sizeof(*ch->route) + (n_cpus + 1) * sizeof(ch->route->cpu[0]));
	unmap_ring(ch, ring);
	port_free(ring->slots, GKHI_RING_SLOTS * sizeof(*ring->slots));
	port_free(ring, ring_bytes(n_cpus));
	ch->route = NULL;
	ch->priv[0] = NULL;
}

/*
 * Nothing to do: the commit word says how far the open packet goes, so whatever
 * was committed can be read at any moment. To close the packet from another cpu
 * would take the very lock that the ring does without.
 */
static void ring_finalize(struct gkhi_channel *ch)
{
	(void)ch;
}

/* Readers skip packets before @first; the next event opens one that is not. */
static void ring_reset(struct gkhi_channel *ch)
{
	const struct gkhi_ring *ring = gkhi_ring_of(ch);

	for (uint32_t i = 0; i <= ring->n_cpus; i++) {
		struct gkhi_ring_cpu *rc = ring->cpu[i];
		uint64_t commit = PORT_LOAD_ACQUIRE(rc->commit);
		const struct gkhi_packet *packet = gkhi_ring_packet(ring, rc, commit);

		PORT_WRITE_ONCE(rc->first, packet->packet_seq_num + 1);
		PORT_WRITE_ONCE(rc->deadline, 0);
	}
}

static void ring_stats(struct gkhi_channel *ch, struct gkhi_channel_stats *st)
{
	const struct gkhi_ring *ring = gkhi_ring_of(ch);

	memset(st, 0, sizeof(*st));
	for (uint32_t i = 0; i <= ring->n_cpus; i++) {
		struct gkhi_ring_cpu *rc = ring->cpu[i];
		uint64_t commit, seq;
		const struct gkhi_packet *packet;

		do {	/* until header and commit word are of one packet */
			commit = PORT_LOAD_ACQUIRE(rc->commit);
			packet = gkhi_ring_packet(ring, rc, commit);
			seq = PORT_READ_ONCE(packet->packet_seq_num);
		} while ((seq & 0xff) != gkhi_commit_packet(commit));
		st->events += packet->count_begin + gkhi_commit_count(commit);
		for (unsigned int reason = 0; reason < GKHI_N_LOST_REASONS; reason++)
			st->lost[reason] += PORT_READ_ONCE(rc->lost_by_reason[reason]);
	}
}

const struct gkhi_backend gkhi_backend_ring = {
	.name = "ring",
	.open = ring_open,
	.close = ring_close,
	.write = gkhi_ring_write,
	.reserve = gkhi_ring_reserve,
	.commit = gkhi_ring_commit,
	.finalize = ring_finalize,
	.reset = ring_reset,
	.stats = ring_stats,
};
