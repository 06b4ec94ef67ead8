// SPDX-License-Identifier: MIT
// An x86-64 ELF file in memory, through libelf.
#include "elf_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gkhi::reader {
namespace {

constexpr size_t kMaxSections = 1 << 20;

std::string_view StringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  const size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

template <typename T>
std::optional<T> EntryAt(std::string_view bytes, size_t index) {
  T entry;
  if (index >= bytes.size() / sizeof(T)) return std::nullopt;
  std::memcpy(&entry, bytes.data() + index * sizeof(T), sizeof(T));
  return entry;
}

}  // namespace

Result<ElfImage> ElfImage::Open(std::string image, const std::string &name) {
  ElfImage elf;
  elf.image_ = std::make_unique<std::string>(std::move(image));
  if (elf_version(EV_CURRENT) == EV_NONE) return Error{"libelf is too old"};
  elf.elf_.reset(elf_memory(elf.image_->data(), elf.image_->size()));
  if (!elf.elf_ || elf_kind(elf.elf_.get()) != ELF_K_ELF)
    return Error{fmt::format("{}: not an ELF file", name)};
  const GElf_Ehdr *header = gelf_getehdr(elf.elf_.get(), &elf.header_);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != EM_X86_64)
    return Error{fmt::format("{}: found an ELF file for another processor, wanted x86-64", name)};
  if (!elf.ReadSections()) return Error{fmt::format("{}: the section headers are damaged", name)};
  elf.ReadSegments();
  elf.ReadFunctions();
  return elf;
}

bool ElfImage::ReadSections() {
  size_t count = 0, names = 0;
  if (elf_getshdrnum(elf_.get(), &count) != 0 || count > kMaxSections) return false;
  if (count == 0) return true;
  if (elf_getshdrstrndx(elf_.get(), &names) != 0) return false;
  for (size_t i = 0; i < count; i++) {
    ElfSection section;
    Elf_Scn *scn = elf_getscn(elf_.get(), i);
    if (!scn || !gelf_getshdr(scn, &section.header)) return false;
    const GElf_Shdr &header = section.header;
    const bool in_file = i != 0 && header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL;
    if (in_file) {
      if (header.sh_offset > image_->size() || header.sh_size > image_->size() - header.sh_offset)
        return false;
      section.bytes = std::string_view(*image_).substr(header.sh_offset, header.sh_size);
    }
    sections_.push_back(std::move(section));
  }
  if (names >= sections_.size()) return false;
  for (ElfSection &section : sections_)
    section.name = std::string(StringAt(sections_[names].bytes, section.header.sh_name));
  return true;
}

void ElfImage::ReadSegments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) return;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf_.get(), static_cast<int>(i), &segment)) return;
    if (segment.p_type == PT_LOAD)
      segments_.push_back(
          {segment.p_offset, segment.p_vaddr, segment.p_filesz, (segment.p_flags & PF_X) != 0});
  }
}

// The full symbol table; without it (stripped) the dynamic one, which has at least what is exported.
void ElfImage::ReadFunctions() {
  for (const uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (size_t i = 0; i < sections_.size() && symbol_table_ == 0; i++)
      if (sections_[i].header.sh_type == wanted && sections_[i].header.sh_link < sections_.size())
        symbol_table_ = i;
  }
  if (symbol_table_ == 0) return;
  const std::string_view names = sections_[sections_[symbol_table_].header.sh_link].bytes;
  const size_t count = sections_[symbol_table_].bytes.size() / sizeof(Elf64_Sym);
  for (size_t i = 0; i < count; i++) {
    const auto symbol = SymbolAt(i);
    if (!symbol || GELF_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
    functions_.push_back({symbol->st_shndx, symbol->st_value, symbol->st_size,
                          StringAt(names, symbol->st_name), GELF_ST_BIND(symbol->st_info) == STB_LOCAL});
  }
  // Of several names of one function the global one counts.
  std::stable_sort(functions_.begin(), functions_.end(), [](const ElfFunction &a, const ElfFunction &b) {
    if (a.section != b.section) return a.section < b.section;
    if (a.start != b.start) return a.start < b.start;
    return a.is_local && !b.is_local;
  });
}

std::optional<GElf_Sym> ElfImage::SymbolAt(size_t index) const {
  if (symbol_table_ == 0) return std::nullopt;
  return EntryAt<Elf64_Sym>(sections_[symbol_table_].bytes, index);
}

std::string ElfImage::BuildId() const {
  for (const ElfSection &section : sections_) {
    if (section.header.sh_type != SHT_NOTE || section.name != ".note.gnu.build-id") continue;
    const auto note = EntryAt<Elf64_Nhdr>(section.bytes, 0);
    constexpr size_t kStart = sizeof(Elf64_Nhdr) + 4;  // behind "GNU"
    if (!note || note->n_namesz != 4 || section.bytes.size() < kStart) return "";
    std::string text;
    for (const char c : section.bytes.substr(kStart, note->n_descsz))
      text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
  }
  return "";
}

bool ElfImage::is_position_independent_executable() const {
  for (const ElfSection &section : sections_) {
    if (section.name == ".interp") return true;
    if (section.header.sh_type != SHT_DYNAMIC) continue;
    for (size_t i = 0; const auto entry = EntryAt<Elf64_Dyn>(section.bytes, i); i++)
      if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_PIE)) return true;
  }
  return false;
}

std::optional<size_t> ElfImage::SectionAt(uint64_t address) const {
  for (size_t i = 1; i < sections_.size(); i++) {
    const GElf_Shdr &header = sections_[i].header;
    const bool loaded = (header.sh_flags & SHF_ALLOC) && header.sh_type != SHT_NOBITS;
    if (loaded && address >= header.sh_addr && address - header.sh_addr < header.sh_size) return i;
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfImage::FileOffset(uint64_t address) const {
  for (const ElfSegment &segment : segments_)
    if (address >= segment.address && address - segment.address < segment.file_size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

const ElfFunction *ElfImage::FunctionAt(size_t section, uint64_t address) const {
  auto behind = std::upper_bound(functions_.begin(), functions_.end(), std::pair(section, address),
                                 [](const std::pair<size_t, uint64_t> &wanted, const ElfFunction &function) {
                                   return wanted < std::pair(function.section, function.start);
                                 });
  // A short symbol inside of a long one may stand between.
  constexpr int kLookBack = 16;
  for (int i = 0; i < kLookBack && behind != functions_.begin(); i++) {
    --behind;
    if (behind->section != section) return nullptr;
    if (address - behind->start < behind->size) return &*behind;
  }
  return nullptr;
}

std::map<uint64_t, ElfTarget> ElfImage::Relocations(size_t section) const {
  std::map<uint64_t, ElfTarget> targets;
  for (const ElfSection &table : sections_) {
    if (table.header.sh_type != SHT_RELA || table.header.sh_info != section) continue;
    for (size_t i = 0; const auto entry = EntryAt<Elf64_Rela>(table.bytes, i); i++) {
      if (ELF64_R_TYPE(entry->r_info) != R_X86_64_PC32) continue;
      const auto symbol = SymbolAt(ELF64_R_SYM(entry->r_info));
      if (symbol)
        targets[entry->r_offset] = {symbol->st_shndx,
                                    symbol->st_value + static_cast<uint64_t>(entry->r_addend)};
    }
  }
  return targets;
}

}  // namespace gkhi::reader
