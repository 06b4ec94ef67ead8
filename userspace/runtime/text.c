// SPDX-License-Identifier: MIT
/*
 * text.c - switch 5-byte nops into jumps and back while threads run through them.
 *
 *   call            context               may run against
 *   port_patch      control lock held, T  threads executing the patched code
 *   port_sync_core  any thread            everything
 *
 * Invariants
 *  T1 a site never crosses an aligned 8-byte word, and its bytes change by one
 *     locked 8-byte compare-and-exchange: a processor fetches the old or the new
 *     instruction, nothing between. No trap instruction is ever written;
 *  T2 the word is exchanged only for the one that was verified: nop5, or the jump
 *     that we wrote there. Anything else (a uprobe, a debugger) is left alone;
 *  T3 text is never without PROT_EXEC, and has its own protection again when
 *     port_patch() returns;
 *  T4 the file behind the text is never written.
 *
 * Mappings are opened for writing once per batch, from the first page patched to
 * the last: a pair of mprotect() per site would cost 10 000 hooks 100 ms. What the
 * locked exchange costs is lost in the copy-on-write of the page.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port_posix.h"
#include "text_maps.h"

#define TEXT_PAGE	4096ul
#define TEXT_NOP5	0x0000441f0ful		/* 0f 1f 44 00 00 */
#define TEXT_JMP	0xe9ul
#define TEXT_SITE_MASK	0xfffffffffful		/* five bytes */
#define TEXT_PENDING	INT_MAX
#define TEXT_REGIONS	64

/* An executable mapping with sites in it, for one round. */
struct text_region {
	struct text_map map;
	uintptr_t lo, hi;		/* pages from lo to hi; hi 0: no site */
	bool opened;			/* by us, so to be closed */
	bool by_file;			/* through /proc/self/mem */
	int error;			/* not writable at all */
};

static struct text_region text_regions[TEXT_REGIONS];

/* TSan has no shadow for text; the loads and stores of it are in assembler. */
static uint64_t load_word(const void *addr)
{
	uint64_t word;

	__asm__ volatile("movq (%1),%0" : "=r"(word) : "r"((uintptr_t)addr & ~7ul) : "memory");
	return word;
}

static bool exchange_word(const void *addr, uint64_t old, uint64_t word)
{
	bool done;

	__asm__ volatile("lock cmpxchgq %3,(%2)"
			 : "=@ccz"(done), "+a"(old)
			 : "r"((uintptr_t)addr & ~7ul), "r"(word) : "memory");
	return done;
}

static unsigned int shift_of(const void *addr)
{
	return 8 * ((uintptr_t)addr & 7);
}

static uint64_t site_bytes(const void *addr, uint64_t word)
{
	return word >> shift_of(addr) & TEXT_SITE_MASK;
}

static uint64_t jump_bytes(const void *addr, uintptr_t target)
{
	return TEXT_JMP | (uint64_t)(uint32_t)(target - ((uintptr_t)addr + 5)) << 8;
}

static bool is_ours(const struct port_patch *p, uint64_t bytes)
{
	return bytes == TEXT_NOP5 || (p->ours && bytes == jump_bytes(p->addr, (uintptr_t)p->ours));
}

/* -- one site */

/* The word as it shall be, for the word as it is. 0 or -errno. */
static int wanted_word(const struct port_patch *p, uint64_t old, uint64_t *word)
{
	uint64_t bytes = TEXT_NOP5;
	int64_t distance;

	if (((uintptr_t)p->addr & 7) > 3)
		return -EINVAL;
	if (!is_ours(p, site_bytes(p->addr, old)))
		return -EBUSY;
	if (p->target) {
		distance = (int64_t)((uintptr_t)p->target - ((uintptr_t)p->addr + 5));
		if (distance != (int32_t)distance)
			return -ERANGE;
		bytes = jump_bytes(p->addr, (uintptr_t)p->target);
	}
	*word = (old & ~(TEXT_SITE_MASK << shift_of(p->addr))) | bytes << shift_of(p->addr);
	return 0;
}

/* 0 already as wanted, -errno refused, TEXT_PENDING to be written. */
static int check_site(const struct port_patch *p)
{
	uint64_t old = load_word(p->addr), word = 0;
	int rc = wanted_word(p, old, &word);

	if (rc)
		return rc;
	return word == old ? 0 : TEXT_PENDING;
}

/* The kernel copies an aligned word as one; what it wrote is read back. */
static bool write_by_file(int fd, const void *addr, uint64_t word)
{
	uintptr_t at = (uintptr_t)addr & ~7ul;

	return fd >= 0 && syscall(SYS_pwrite64, fd, &word, sizeof(word), at) == sizeof(word) &&
	       load_word(addr) == word;
}

static int write_site(struct port_patch *p, const struct text_region *region, int mem_fd)
{
	uint64_t old = load_word(p->addr), word = 0;
	int rc = region->error ? region->error : wanted_word(p, old, &word);

	if (rc)
		return rc;
	if (region->by_file)
		rc = write_by_file(mem_fd, p->addr, word) ? 0 : -EACCES;
	else
		rc = exchange_word(p->addr, old, word) ? 0 : -EBUSY;
	return rc;
}

/* -- regions */

static size_t fill_regions(struct text_maps_reader *r, uintptr_t lo, uintptr_t hi, bool *more)
{
	struct text_map map;
	size_t n = 0;

	while (n < TEXT_REGIONS) {
		*more = text_maps_next(r, &map) && map.start <= hi;
		if (!*more)
			break;
		if (map.prot & PROT_EXEC && map.end > lo)
			text_regions[n++] = (struct text_region){ .map = map };
	}
	return n;
}

static struct text_region *find_region(uintptr_t addr, size_t n)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (text_regions[mid].map.end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && text_regions[lo].map.start <= addr ? &text_regions[lo] : NULL;
}

/* A pending site's status becomes its region's number plus one. */
static void assign_regions(struct port_patch *patches, size_t n, size_t n_regions)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uintptr_t page = (uintptr_t)patches[i].addr & ~(TEXT_PAGE - 1);
		struct text_region *region;

		if (patches[i].status != TEXT_PENDING)
			continue;
		region = find_region((uintptr_t)patches[i].addr, n_regions);
		if (!region)
			continue;
		if (!region->hi || page < region->lo)
			region->lo = page;
		if (page + TEXT_PAGE > region->hi)
			region->hi = page + TEXT_PAGE;
		patches[i].status = (int)(region - text_regions) + 1;
	}
}

static void open_region(struct text_region *region, int *mem_fd)
{
	if (region->map.shared) {
		region->error = -EACCES;		/* T4 */
		return;
	}
	if (region->map.prot & PROT_WRITE)
		return;
	if (!mprotect((void *)region->lo, region->hi - region->lo, region->map.prot | PROT_WRITE)) {
		region->opened = true;
		return;
	}
	region->by_file = true;				/* MemoryDenyWriteExecute and its like */
	if (*mem_fd < 0)
		*mem_fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
}

/*
 * Under valgrind the processor is a translator that does not see stores to code:
 * this no-op is its way to be told (its VALGRIND_DISCARD_TRANSLATIONS).
 */
static void tell_valgrind(const struct text_region *region)
{
	volatile uint64_t request[6] = { 0x1002, region->lo, region->hi - region->lo, 0, 0, 0 };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3,%%rdi\nrolq $13,%%rdi\nrolq $61,%%rdi\nrolq $51,%%rdi\n"
			 "xchgq %%rbx,%%rbx"
			 : "+d"(answer) : "a"(request) : "cc", "memory");
}

static void close_region(const struct text_region *region)
{
	if (region->opened)
		mprotect((void *)region->lo, region->hi - region->lo, region->map.prot);
	tell_valgrind(region);
}

static void write_round(struct port_patch *patches, size_t n, size_t n_regions)
{
	int mem_fd = -1;
	size_t i;

	assign_regions(patches, n, n_regions);
	for (i = 0; i < n_regions; i++)
		if (text_regions[i].hi)
			open_region(&text_regions[i], &mem_fd);
	for (i = 0; i < n; i++)
		if (patches[i].status > 0 && patches[i].status <= TEXT_REGIONS)
			patches[i].status = write_site(&patches[i], &text_regions[patches[i].status - 1], mem_fd);
	for (i = 0; i < n_regions; i++)
		if (text_regions[i].hi)
			close_region(&text_regions[i]);
	if (mem_fd >= 0)
		syscall(SYS_close, mem_fd);
}

static void write_pending(struct port_patch *patches, size_t n, uintptr_t lo, uintptr_t hi)
{
	struct text_maps_reader reader;
	bool more = !text_maps_open(&reader);

	if (!more)
		return;
	while (more) {
		size_t n_regions = fill_regions(&reader, lo, hi, &more);

		write_round(patches, n, n_regions);
	}
	text_maps_close(&reader);
}

int port_patch(struct port_patch *patches, size_t n)
{
	uintptr_t lo = UINTPTR_MAX, hi = 0;
	size_t i, pending = 0;
	int failed = 0;

	for (i = 0; i < n; i++) {
		uintptr_t addr = (uintptr_t)patches[i].addr;

		patches[i].status = check_site(&patches[i]);
		if (patches[i].status != TEXT_PENDING)
			continue;
		pending++;
		lo = addr < lo ? addr : lo;
		hi = addr > hi ? addr : hi;
	}
	if (pending) {
		write_pending(patches, n, lo, hi);
		port_sync_core();
	}
	for (i = 0; i < n; i++) {
		if (patches[i].status == TEXT_PENDING)
			patches[i].status = -EACCES;	/* not in executable memory, or no /proc */
		failed += patches[i].status != 0;
	}
	return failed;
}

/*
 * Makes every thread's processor fetch its instructions anew. Where the kernel
 * has it not (or a sandbox forbids it) the interrupts of mprotect's TLB flush
 * have done the same for running threads.
 */
void port_sync_core(void)
{
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		return;
	if (errno == EPERM &&
	    !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}
