# SPDX-License-Identifier: MIT
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_site_map
#   build/fuzz/bin/fuzz_site_map -max_total_time=600 -max_len=65536 build/fuzz/corpus/site_map
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
get_target_property(site_map_sources gkhi_site_map SOURCES)
add_executable(fuzz_site_map fuzz_site_map.cc ${site_map_sources})
target_include_directories(fuzz_site_map PRIVATE $<TARGET_PROPERTY:gkhi_site_map,INCLUDE_DIRECTORIES>)
target_link_libraries(fuzz_site_map PRIVATE fmt::fmt nlohmann_json::nlohmann_json PkgConfig::ELF PkgConfig::LZMA
  PkgConfig::ZSTD)
target_compile_options(fuzz_site_map PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
target_link_options(fuzz_site_map PRIVATE -fsanitize=fuzzer,address,undefined)

# Seeds: the smallest files that have a map.
set(seeds ${CMAKE_BINARY_DIR}/corpus/site_map)
set(fixture ${CMAKE_SOURCE_DIR}/tests/unit/reader/site_map_fixture.c)
set(fixture_cc ${CMAKE_C_COMPILER} -O2 -I${CMAKE_SOURCE_DIR}/hooks/include ${fixture})
add_custom_command(OUTPUT ${seeds}/fixture.o
  COMMAND ${CMAKE_COMMAND} -E make_directory ${seeds}
  COMMAND ${fixture_cc} -nostdlib -fPIC -shared -o ${seeds}/fixture.so
  COMMAND ${fixture_cc} -c -o ${seeds}/fixture.o
  COMMAND xz -kfc ${seeds}/fixture.o > ${seeds}/fixture.xz
  COMMAND zstd -qfc ${seeds}/fixture.o > ${seeds}/fixture.zst
  DEPENDS ${fixture} VERBATIM)
add_custom_target(fuzz_site_map_seeds DEPENDS ${seeds}/fixture.o)
add_dependencies(fuzz_site_map fuzz_site_map_seeds)
