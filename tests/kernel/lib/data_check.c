// SPDX-License-Identifier: MIT
/*
 * data_check - what a shell cannot ask of /dev/gkhi/CHANNEL.CPU. Static, for the guest.
 *
 *   data_check poll FILE MS     what poll() says: in, hup, timeout
 *   data_check flush FILE       end the open packet
 *   data_check now FILE         read what there is, without waiting, to stdout
 *   data_check snapshot FILE    what there is at this moment, though writers go on, to stdout
 *   data_check mmap FILE        acknowledge every packet in the mapping; says how many, and their bytes
 *   data_check info FILE        events and lost
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gkhi/data.h>

static int die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

static int run_poll(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, ms);

	if (n < 0)
		return die("poll");
	printf("%s%s%s\n", n ? "" : "timeout", p.revents & POLLIN ? "in" : "", p.revents & POLLHUP ? "hup" : "");
	return 0;
}

static int copy_out(int fd)
{
	static char buffer[1 << 16];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(STDOUT_FILENO, buffer, n) != n)
			return 1;
	return n < 0 && errno != EAGAIN;
}

static int run_mmap(int fd)
{
	struct gkhi_data_info info;
	struct gkhi_data_place place;
	unsigned long packets = 0, bytes = 0;
	char *map;
	size_t size;

	if (ioctl(fd, GKHI_DATA_INFO, &info))
		return die("info");
	size = (size_t)info.subbuf_size * info.n_subbufs;
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		return die("a writable mapping was given");
	if (mmap(NULL, size + 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		return die("a mapping behind the end was given");
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return die("mmap");
	if (!mprotect(map, size, PROT_READ | PROT_WRITE))
		return die("the mapping was made writable");
	if (ioctl(fd, GKHI_DATA_FLUSH))
		return die("flush");
	while (!ioctl(fd, GKHI_DATA_NEXT, &place)) {
		const struct gkhi_packet *packet = (void *)(map + place.offset);

		if (packet->magic != GKHI_CTF_MAGIC || packet->packet_seq_num != packets ||
		    packet->packet_size != 8ull * info.subbuf_size || packet->cpu_id != info.cpu)
			return die("this is no packet, or not the next one");
		packets++;
		bytes += packet->content_size / 8;
		if (ioctl(fd, GKHI_DATA_DONE))
			return die("done");
	}
	if (errno != EAGAIN)
		return die("next");
	printf("%lu %lu\n", packets, bytes);
	return 0;
}

static int run_info(int fd)
{
	struct gkhi_data_info info;
	unsigned long long lost = 0;

	if (ioctl(fd, GKHI_DATA_INFO, &info))
		return die("info");
	for (int i = 0; i < GKHI_N_LOST_REASONS; i++)
		lost += info.lost[i];
	printf("%llu %llu\n", (unsigned long long)info.events, lost);
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[2], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return die("open");
	if (!strcmp(argv[1], "poll") && argc > 3)
		return run_poll(fd, atoi(argv[3]));
	if (!strcmp(argv[1], "now"))
		return copy_out(fd);
	if (!strcmp(argv[1], "snapshot"))
		return ioctl(fd, GKHI_DATA_SNAPSHOT) ? die("snapshot") : copy_out(fd);
	if (!strcmp(argv[1], "mmap"))
		return run_mmap(fd);
	if (!strcmp(argv[1], "info"))
		return run_info(fd);
	if (!strcmp(argv[1], "flush"))
		return ioctl(fd, GKHI_DATA_FLUSH) ? die("flush") : 0;
	return 2;
}
