# SPDX-License-Identifier: MIT
# The YAML front end and the emitters.
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_genevent
#   mkdir -p build/fuzz/corpus/genevent
#   build/fuzz/bin/fuzz_genevent -max_total_time=600 -dict=tests/fuzz/genevent.dict \
#     build/fuzz/corpus/genevent tests/golden/genevent/pass tests/golden/genevent/fail tests/golden/genevent/compat
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

get_target_property(genevent_sources gkhi_genevent SOURCES)
list(TRANSFORM genevent_sources PREPEND ${PROJECT_SOURCE_DIR}/genevent/ REGEX "^[a-z]")
add_executable(fuzz_genevent fuzz_genevent.cc ${genevent_sources})
set_source_files_properties(${PROJECT_BINARY_DIR}/genevent/schema_text.cc PROPERTIES GENERATED TRUE)
target_include_directories(fuzz_genevent PRIVATE $<TARGET_PROPERTY:gkhi_genevent,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_options(fuzz_genevent PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
target_link_options(fuzz_genevent PRIVATE -fsanitize=fuzzer,address,undefined)
target_link_libraries(fuzz_genevent PRIVATE fmt::fmt yaml-cpp PkgConfig::xxhash nlohmann_json::nlohmann_json)
