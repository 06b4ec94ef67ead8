// SPDX-License-Identifier: MIT
// An x86-64 ELF file in memory, through libelf: sections, symbols and relocations, every access checked.
#ifndef GKHI_READER_ELF_IMAGE_HPP
#define GKHI_READER_ELF_IMAGE_HPP

#include <gelf.h>

#include <cstdint>
#include <gkhi/reader/result.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi::reader {

struct ElfSection {
  std::string name;
  GElf_Shdr header{};
  std::string_view bytes;  // empty for NOBITS
};

struct ElfFunction {
  size_t section;
  uint64_t start;
  uint64_t size;
  std::string_view name;
  bool is_local;
};

struct ElfSegment {
  uint64_t offset, address, file_size;
  bool is_code;
};

// What an offset in a relocatable section will point to.
struct ElfTarget {
  size_t section;
  uint64_t offset;
};

class ElfImage {
 public:
  // The image must outlive what is returned.
  static Result<ElfImage> Open(std::string image, const std::string &name);

  [[nodiscard]] int type() const { return header_.e_type; }
  [[nodiscard]] const std::vector<ElfSection> &sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment> &segments() const { return segments_; }
  [[nodiscard]] std::string BuildId() const;
  [[nodiscard]] bool has_symbols() const { return !functions_.empty(); }
  [[nodiscard]] bool is_position_independent_executable() const;

  // Index of the section that holds an address (not in relocatable files).
  [[nodiscard]] std::optional<size_t> SectionAt(uint64_t address) const;
  [[nodiscard]] std::optional<uint64_t> FileOffset(uint64_t address) const;
  // The innermost function round an address; NULL if there is none.
  [[nodiscard]] const ElfFunction *FunctionAt(size_t section, uint64_t address) const;
  // The PC-relative relocations of a section, by offset.
  [[nodiscard]] std::map<uint64_t, ElfTarget> Relocations(size_t section) const;

 private:
  struct Closer {
    void operator()(Elf *elf) const { elf_end(elf); }
  };

  bool ReadSections();
  void ReadSegments();
  void ReadFunctions();
  [[nodiscard]] std::optional<GElf_Sym> SymbolAt(size_t index) const;

  std::unique_ptr<std::string> image_;
  std::unique_ptr<Elf, Closer> elf_;
  GElf_Ehdr header_{};
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfFunction> functions_;
  size_t symbol_table_ = 0;  // index of the section in use; 0: none
};

// Takes xz or zstd off; other bytes are returned as they are.
Result<std::string> Decompress(std::string bytes, const std::string &name);

}  // namespace gkhi::reader

#endif
