# SPDX-License-Identifier: MIT
# gkhi_target_sites(TARGET HEADER): compile TARGET with the clang pass and the sites of HEADER (written by
# `genevent sites`). gkhi_add_provider(... SITES) calls it.
function(gkhi_target_sites target header)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_LOADED AND NOT CMAKE_${language}_COMPILER_ID MATCHES "Clang")
      message(FATAL_ERROR "gkhi: ${target} has hooks in untouched source, which need clang 14, 16 or 19; the "
                          "${language} compiler is ${CMAKE_${language}_COMPILER_ID} "
                          "${CMAKE_${language}_COMPILER_VERSION}. Set CMAKE_${language}_COMPILER.")
    endif()
    get_target_property(launcher ${target} ${language}_COMPILER_LAUNCHER)
    if(NOT launcher)
      set(launcher "")
    endif()
    # Another sites header of the same target has put gkhi-cc in front already.
    if(launcher MATCHES "gkhi-cc")
      list(INSERT launcher 1 "--gkhi-sites=${header}")
    else()
      list(PREPEND launcher "${GKHI_CC}" "--gkhi-sites=${header}")
    endif()
    set_target_properties(${target} PROPERTIES ${language}_COMPILER_LAUNCHER "${launcher}")
  endforeach()
  target_sources(${target} PRIVATE ${header})
  if(TARGET gkhi_pass)
    add_dependencies(${target} gkhi_pass)
  endif()
endfunction()

# In gkhi's own build the wrapper is configured next to genevent.
if(NOT GKHI_CC)
  set(GKHI_CC ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gkhi-cc)
endif()
