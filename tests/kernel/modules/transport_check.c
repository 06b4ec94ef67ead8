// SPDX-License-Identifier: GPL-2.0-only
/* transport_check.c - the reader's side of transport_stress.c: is every packet what its header says? */
#include "transport_stress.h"

static void check_record(struct stream *s, const u64 *p, u64 base, u32 *words)
{
	u32 who = p[1] >> 56, i;
	u64 n = p[1] & ((1ull << 48) - 1), time = base + (((p[0] >> 16) - base) & ((1ull << 48) - 1));

	*words = p[1] >> 48 & 0xff;
	if ((p[0] & 0xffff) != EVENT_ID || who >= WRITERS || *words < 3 || *words > 7) {
		found.torn++;
		*words = 0;
		return;
	}
	for (i = 2; i < *words; i++)
		if (p[i] != ~(p[1] + i)) {
			found.torn++;
			break;
		}
	if (time < s->last_time)
		found.backwards++;
	s->last_time = time;
	if (n < s->context[who].next)
		found.twice++;
	s->context[who].next = n + 1;
	s->read++;
}

void check_packet(struct stream *s, struct gkhi_packet *p, u32 cpu)
{
	const u64 *at = (u64 *)p + GKHI_PACKET_HEADER / 8, *end = (u64 *)p + p->content_size / 64;
	u64 before = s->read;
	u32 words;

	if (p->magic != GKHI_CTF_MAGIC || p->cpu_id != cpu || p->content_size > p->packet_size ||
	    p->timestamp_end < p->timestamp_begin || p->timestamp_begin < s->last_end) {
		found.headers++;
		return;
	}
	/* count_begin tells exactly what was overwritten unread; nothing is where nothing is overwritten */
	if (p->count_begin != s->expect_count) {
		if (p->count_begin > s->expect_count && (kind == RING || kind == ADHOC))
			s->overwritten += p->count_begin - s->expect_count;
		else
			found.gaps++;
	}
	s->last_time = p->timestamp_begin;
	for (; at < end; at += words) {
		check_record(s, at, p->timestamp_begin, &words);
		if (!words)
			break;
	}
	if (s->last_time > p->timestamp_end)
		found.backwards++;
	s->last_end = p->timestamp_end;
	s->expect_count = p->count_begin + s->read - before;
}
