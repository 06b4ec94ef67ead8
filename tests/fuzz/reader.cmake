# SPDX-License-Identifier: MIT
# The trace reader; what is tested is compiled in, with ASan and UBSan.
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_reader
#   build/fuzz/bin/fuzz_reader -max_total_time=600 build/fuzz/corpus/reader
get_target_property(reader_sources gkhi_reader SOURCES)
list(TRANSFORM reader_sources PREPEND ${CMAKE_SOURCE_DIR}/userspace/reader/)
add_executable(fuzz_reader fuzz_reader.cc ${reader_sources})
target_link_libraries(fuzz_reader PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
target_include_directories(fuzz_reader PRIVATE $<TARGET_PROPERTY:gkhi_reader,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(fuzz_reader PRIVATE $<TARGET_PROPERTY:gkhi_reader,COMPILE_DEFINITIONS>)
target_compile_options(fuzz_reader PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
target_link_options(fuzz_reader PRIVATE -fsanitize=fuzzer,address,undefined)

add_executable(make_reader_seeds make_reader_seeds.cc)
target_link_libraries(make_reader_seeds PRIVATE gkhi::reader fmt::fmt)
add_custom_command(TARGET fuzz_reader POST_BUILD
  COMMAND make_reader_seeds ${CMAKE_BINARY_DIR}/corpus/reader VERBATIM)
add_dependencies(fuzz_reader make_reader_seeds)
