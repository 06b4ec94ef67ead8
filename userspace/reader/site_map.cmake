# SPDX-License-Identifier: MIT
# The map of an ELF file. Included from this folder's list once gkhi_reader exists.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

target_sources(gkhi_reader PRIVATE
  decompress.cc
  elf_image.cc
  site_map.cc
  site_map_probes.cc
  site_map_process.cc
  site_map_text.cc
  ${CMAKE_SOURCE_DIR}/hooks/location.c
)
target_include_directories(gkhi_reader PRIVATE ${CMAKE_SOURCE_DIR}/hooks)
target_link_libraries(gkhi_reader PRIVATE PkgConfig::ELF PkgConfig::LZMA PkgConfig::ZSTD)
