// SPDX-License-Identifier: MIT
/*
 * vfork_bind.c - calls of vfork() come to ours, also where the runtime was loaded
 * by dlopen() and so stands behind libc in the order of lookup.
 *
 * Where it was linked or preloaded, all slots point to it already, and nothing is
 * done. Else the slots for vfork in the objects' global offset tables are stored
 * to, one aligned word each; those that are read-only after relocation are made
 * writable for that moment. A sanitizer's own vfork() is left in place.
 */
#include <link.h>
#include <string.h>

#include "process.h"
#include "sys.h"

#if defined(__x86_64__)

extern int gkhi_vfork(void);
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

struct object {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Rela) *table[2];
	size_t bytes[2];
	uintptr_t relro, relro_end;
};

/* The loader has relocated these pointers in place, but not in every object. */
static const void *pointer_of(const struct object *o, const ElfW(Dyn) *dyn)
{
	return (const void *)(dyn->d_un.d_ptr < o->base ? o->base + dyn->d_un.d_ptr : dyn->d_un.d_ptr);
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			o->symbols = pointer_of(o, dyn);
			break;
		case DT_STRTAB:
			o->strings = pointer_of(o, dyn);
			break;
		case DT_RELA:
			o->table[0] = pointer_of(o, dyn);
			break;
		case DT_RELASZ:
			o->bytes[0] = dyn->d_un.d_val;
			break;
		case DT_JMPREL:
			o->table[1] = pointer_of(o, dyn);
			break;
		case DT_PLTRELSZ:
			o->bytes[1] = dyn->d_un.d_val;
			break;
		}
	}
}

static void store_slot(const struct object *o, uintptr_t *slot)
{
	uintptr_t page = (uintptr_t)slot & ~4095ul;
	bool sealed = (uintptr_t)slot >= o->relro && (uintptr_t)slot < o->relro_end;

	if (*slot == (uintptr_t)gkhi_vfork)
		return;
	if (sealed && sys_call3(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_WRITE))
		return;			/* forbidden: a vfork child of this object must not trace */
	__atomic_store_n(slot, (uintptr_t)gkhi_vfork, __ATOMIC_RELAXED);
	if (sealed)
		(void)sys_call3(SYS_mprotect, (long)page, 4096, PROT_READ);
}

static void bind_table(const struct object *o, const ElfW(Rela) *rela, size_t n)
{
	for (; n; n--, rela++) {
		uint32_t type = ELF64_R_TYPE(rela->r_info);
		const char *name;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		name = o->strings + o->symbols[ELF64_R_SYM(rela->r_info)].st_name;
		if (!strcmp(name, "vfork") || !strcmp(name, "__vfork"))
			store_slot(o, (uintptr_t *)(o->base + rela->r_offset));
	}
}

static int bind_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object o = { .base = info->dlpi_addr };
	const ElfW(Dyn) *dyn = NULL;

	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC)
			dyn = (const ElfW(Dyn) *)(o.base + p->p_vaddr);
		if (p->p_type == PT_GNU_RELRO) {
			o.relro = o.base + p->p_vaddr;
			o.relro_end = o.relro + p->p_memsz;
		}
	}
	if (!dyn)
		return 0;
	read_dynamic(&o, dyn);
	for (int i = 0; i < 2 && o.symbols && o.strings; i++)
		if (o.table[i])
			bind_table(&o, o.table[i], o.bytes[i] / sizeof(ElfW(Rela)));
	return 0;
}

void gkhi_vfork_bind(void)
{
	if (!__asan_init && !__tsan_init)
		dl_iterate_phdr(bind_object, NULL);
}

#else
void gkhi_vfork_bind(void)
{
}
#endif
