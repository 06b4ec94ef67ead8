# SPDX-License-Identifier: MIT
# gkhi_request: talk to a process, for the command and the tests.
include_guard(GLOBAL)
add_library(gkhi_request STATIC
  ${CMAKE_CURRENT_LIST_DIR}/attach.cc
  ${CMAKE_CURRENT_LIST_DIR}/procfs.cc
  ${CMAKE_CURRENT_LIST_DIR}/request.cc
  ${CMAKE_CURRENT_LIST_DIR}/tracee.cc
)
target_include_directories(gkhi_request PUBLIC ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_SOURCE_DIR}/userspace/reader/include)
target_link_libraries(gkhi_request PUBLIC gkhi_runtime_headers)
