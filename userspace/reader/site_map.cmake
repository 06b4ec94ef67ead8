# SPDX-License-Identifier: MIT
# gkhi::site_map: the map of an ELF file. Apart from gkhi::reader, because only this part needs libelf, xz and zstd.
include_guard(GLOBAL)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

add_library(gkhi_site_map STATIC
  ${CMAKE_CURRENT_LIST_DIR}/decompress.cc
  ${CMAKE_CURRENT_LIST_DIR}/elf_image.cc
  ${CMAKE_CURRENT_LIST_DIR}/site_map.cc
  ${CMAKE_CURRENT_LIST_DIR}/site_map_probes.cc
  ${CMAKE_CURRENT_LIST_DIR}/site_map_process.cc
  ${CMAKE_CURRENT_LIST_DIR}/site_map_text.cc
  ${CMAKE_SOURCE_DIR}/hooks/location.c
)
add_library(gkhi::site_map ALIAS gkhi_site_map)
target_compile_features(gkhi_site_map PUBLIC cxx_std_20)
target_include_directories(gkhi_site_map
  PUBLIC ${CMAKE_CURRENT_LIST_DIR}/include ${CMAKE_SOURCE_DIR}/hooks/include ${CMAKE_SOURCE_DIR}/backends/include
  PRIVATE ${CMAKE_SOURCE_DIR}/hooks)
target_link_libraries(gkhi_site_map
  PUBLIC fmt::fmt
  PRIVATE nlohmann_json::nlohmann_json PkgConfig::ELF PkgConfig::LZMA PkgConfig::ZSTD)
