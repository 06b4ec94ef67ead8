# SPDX-License-Identifier: MIT
# Memory, locks and read sections by themselves.
foreach(test memory_test lock_test)
  add_executable(${test} ${test}.cc ${CMAKE_SOURCE_DIR}/userspace/runtime/port_memory.c
    ${CMAKE_SOURCE_DIR}/userspace/runtime/port_lock.c ${CMAKE_SOURCE_DIR}/userspace/runtime/port_read.c)
  target_include_directories(${test} PRIVATE ${CMAKE_SOURCE_DIR}/userspace/runtime ${CMAKE_SOURCE_DIR}/hooks)
  target_compile_definitions(${test} PRIVATE _GNU_SOURCE)
  target_link_libraries(${test} PRIVATE gkhi_backends_headers GTest::gtest_main)
  gtest_discover_tests(${test} TEST_PREFIX runtime. PROPERTIES TIMEOUT 120)
endforeach()

# The objects of the event side: no vector registers, nothing of libc.
add_test(NAME event_side COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/event_side.sh $<TARGET_OBJECTS:gkhi_event_objects>
  COMMAND_EXPAND_LISTS)

# Selectors against a real object: with pads, and with sites that load the mode.
foreach(kind patching loading)
  set(test select_test)
  if(kind STREQUAL loading)
    set(test select_loading_test)
  elseif(NOT GKHI_PATCHING)
    continue()
  endif()
  add_executable(${test} select_test.cc)
  gkhi_add_provider(${test} select.yaml RUNTIME shared)
  target_link_libraries(${test} PRIVATE gkhi_runtime_headers GTest::gtest_main)
  set(select_dir ${CMAKE_CURRENT_BINARY_DIR}/${test}.dir)
  file(MAKE_DIRECTORY ${select_dir})
  add_test(NAME runtime.select_${kind} COMMAND ${test})
  set_tests_properties(runtime.select_${kind} PROPERTIES TIMEOUT 60 ENVIRONMENT GKHI_DIR=${select_dir})
endforeach()
target_compile_definitions(select_loading_test PRIVATE GKHI_NO_PATCHING)
