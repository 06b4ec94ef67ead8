// SPDX-License-Identifier: MIT
/*
 * vdso.c - find a function of the vDSO.
 *
 * The event side may call nothing of libc, but the vDSO is the kernel's: no
 * vector registers, no lock that a signal handler could meet.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "clock.h"

struct vdso {
	uintptr_t bias;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Word) *hash;		/* DT_HASH: [1] is the number of symbols */
	const uint32_t *gnu_hash;
};

static void read_dynamic(struct vdso *v, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		const void *at = (const void *)(v->bias + dyn->d_un.d_ptr);

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			v->symbols = at;
			break;
		case DT_STRTAB:
			v->strings = at;
			break;
		case DT_HASH:
			v->hash = at;
			break;
		case DT_GNU_HASH:
			v->gnu_hash = at;
			break;
		}
	}
}

/* Newer kernels have the GNU table alone: the highest symbol any chain ends with. */
static uint32_t count_gnu(const uint32_t *h)
{
	uint32_t n_buckets = h[0], first = h[1], n_bloom = h[2], last = 0;
	const uint32_t *buckets = h + 4 + n_bloom * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chains = buckets + n_buckets;

	for (uint32_t i = 0; i < n_buckets; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < first)
		return first;
	while (!(chains[last - first] & 1))
		last++;
	return last + 1;
}

void *gkhi_vdso_find(const char *name)
{
	const ElfW(Ehdr) *ehdr = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) *phdr;
	const ElfW(Dyn) *dyn = NULL;
	struct vdso v = { 0 };
	bool loaded = false;
	uint32_t n;

	if (!ehdr)
		return NULL;
	phdr = (const ElfW(Phdr) *)((const char *)ehdr + ehdr->e_phoff);
	for (unsigned int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && !loaded) {
			v.bias = (uintptr_t)ehdr + phdr[i].p_offset - phdr[i].p_vaddr;
			loaded = true;
		}
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const ElfW(Dyn) *)((const char *)ehdr + phdr[i].p_offset);
	}
	if (!dyn)
		return NULL;
	read_dynamic(&v, dyn);
	if (!v.symbols || !v.strings || (!v.hash && !v.gnu_hash))
		return NULL;
	n = v.hash ? v.hash[1] : count_gnu(v.gnu_hash);
	for (uint32_t i = 0; i < n; i++)
		if (v.symbols[i].st_shndx != SHN_UNDEF && !strcmp(v.strings + v.symbols[i].st_name, name))
			return (void *)(v.bias + v.symbols[i].st_value);
	return NULL;
}
