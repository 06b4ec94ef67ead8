# SPDX-License-Identifier: MIT
# The process side over a core without hooks.
set(process_sources agent.c clock_init.c control.c directory.c file.c fork.c log.c metadata.c port_clock.c
  port_lock.c port_memory.c port_read.c process.c remote.c remote_entry.S start.c strbuf.c vdso.c vfork.S vfork_bind.c)
list(TRANSFORM process_sources PREPEND ${CMAKE_SOURCE_DIR}/userspace/runtime/)
add_executable(process_test process_test.cc ${process_sources}
  ${CMAKE_SOURCE_DIR}/tests/integration/process/fake_core.c)
target_include_directories(process_test PRIVATE ${CMAKE_SOURCE_DIR}/userspace/runtime ${CMAKE_SOURCE_DIR}/hooks)
target_compile_definitions(process_test PRIVATE _GNU_SOURCE)
target_link_libraries(process_test PRIVATE gkhi_runtime_headers GTest::gtest_main)
gtest_discover_tests(process_test PROPERTIES TIMEOUT 60)
