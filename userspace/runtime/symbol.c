// SPDX-License-Identifier: MIT
/*
 * symbol.c - in which function does a place of the text stand? For the selector
 * "func" and for sites whose record does not say: asked of the object's file, so
 * that nothing is read or kept until somebody asks.
 *
 *   call               context              may run against
 *   gkhi_symbol_*      control lock held    nothing
 *
 * The file may be anything by now (replaced, truncated): every offset is checked.
 */
#include "symbol.h"

#include <elf.h>
#include <string.h>

#include "sys.h"

static struct {
	char path[512];
	const char *base;		/* NULL: none is mapped */
	size_t size;
} gkhi_symbol_file;

void gkhi_symbol_forget(void)
{
	if (gkhi_symbol_file.base)
		sys_munmap((void *)gkhi_symbol_file.base, gkhi_symbol_file.size);
	gkhi_symbol_file.base = NULL;
	gkhi_symbol_file.path[0] = '\0';
}

static int map_file(const char *path)
{
	struct stat st;
	void *base;
	int fd;

	if (!strcmp(gkhi_symbol_file.path, path))
		return gkhi_symbol_file.base ? 0 : -ENOENT;
	gkhi_symbol_forget();
	if (strlen(path) >= sizeof(gkhi_symbol_file.path))
		return -ENAMETOOLONG;
	strcpy(gkhi_symbol_file.path, path);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	if (!sys_fstat(fd, &st) && st.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
		base = (void *)sys_call6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if ((unsigned long)base < -4096ul) {
			gkhi_symbol_file.base = base;
			gkhi_symbol_file.size = (size_t)st.st_size;
		}
	}
	sys_close(fd);
	return gkhi_symbol_file.base ? 0 : -ENOEXEC;
}

/* @n bytes at @offset of the file, or NULL. */
static const void *bytes_at(uint64_t offset, uint64_t n)
{
	if (offset > gkhi_symbol_file.size || n > gkhi_symbol_file.size - offset)
		return NULL;
	return gkhi_symbol_file.base + offset;
}

static const Elf64_Shdr *section(const Elf64_Ehdr *elf, unsigned int i)
{
	if (elf->e_shentsize != sizeof(Elf64_Shdr) || i >= elf->e_shnum)
		return NULL;
	return bytes_at(elf->e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* The full table when the file has one, else the dynamic one. */
static const Elf64_Shdr *symbol_table(const Elf64_Ehdr *elf)
{
	const Elf64_Shdr *dynamic = NULL;

	for (unsigned int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Shdr *s = section(elf, i);

		if (s && s->sh_type == SHT_SYMTAB)
			return s;
		if (s && s->sh_type == SHT_DYNSYM)
			dynamic = s;
	}
	return dynamic;
}

static const char *name_of(const Elf64_Shdr *strings, uint32_t name)
{
	const char *s = strings && name < strings->sh_size ? bytes_at(strings->sh_offset, strings->sh_size) : NULL;

	return s && memchr(s + name, '\0', strings->sh_size - name) ? s + name : "";
}

const char *gkhi_symbol_of(const char *path, uintptr_t bias, uintptr_t address)
{
	const Elf64_Ehdr *elf;
	const Elf64_Shdr *table;
	const Elf64_Sym *sym;

	if (map_file(path))
		return "";
	elf = bytes_at(0, sizeof(*elf));
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_ident[EI_CLASS] != ELFCLASS64)
		return "";
	table = symbol_table(elf);
	sym = table ? bytes_at(table->sh_offset, table->sh_size) : NULL;
	for (uint64_t i = 0; sym && i < table->sh_size / sizeof(*sym); i++) {
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC && address - bias - sym[i].st_value < sym[i].st_size)
			return name_of(section(elf, table->sh_link), sym[i].st_name);
	}
	return "";
}
