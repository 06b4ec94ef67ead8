# SPDX-License-Identifier: MIT
#[[
gkhi_add_provider(TARGET FILE.yaml [RUNTIME shared|static|none] [SITES])

Gives TARGET the events that FILE.yaml declares: generates gkhi_FILE.h, which TARGET's sources include, and the
descriptor source gkhi_FILE.c, which becomes a source of TARGET. A target may have several providers.

RUNTIME says how the program gets libgkhi: `shared` links it (the default), `static` links the archive, `none` links
nothing: hooks then come alive when the runtime is preloaded, or when GKHI is in the environment.

SITES compiles TARGET with the clang pass, which puts the events that have `site:` into the untouched source. Needs
clang 14, 16 or 19.
]]
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/GkhiPass.cmake)

function(_gkhi_genevent_command command depends)
  if(TARGET genevent)
    set(${command} genevent PARENT_SCOPE)
    set(${depends} genevent PARENT_SCOPE)
  elseif(TARGET gkhi::genevent)
    set(${command} gkhi::genevent PARENT_SCOPE)
    set(${depends} gkhi::genevent PARENT_SCOPE)
  else()
    find_program(GKHI_GENEVENT genevent REQUIRED)
    set(${command} ${GKHI_GENEVENT} PARENT_SCOPE)
    set(${depends} ${GKHI_GENEVENT} PARENT_SCOPE)
  endif()
endfunction()

# Links the runtime; the descriptor source then refers to it strongly.
function(_gkhi_link_runtime target runtime source)
  if(TARGET gkhi_hooks_headers)
    target_link_libraries(${target} PRIVATE gkhi_hooks_headers)
  elseif(TARGET gkhi::headers)
    target_link_libraries(${target} PRIVATE gkhi::headers)
  endif()
  set(shared gkhi::gkhi)
  set(static gkhi::gkhi_static)
  set(none "")
  if(TARGET "${${runtime}}")
    target_link_libraries(${target} PRIVATE ${${runtime}})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS GKHI_RUNTIME_LINKED)
  endif()
endfunction()

function(gkhi_add_provider target file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SITES" "RUNTIME" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gkhi_add_provider: unknown argument '${arg_UNPARSED_ARGUMENTS}'; known: RUNTIME, SITES")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "gkhi_add_provider: no target '${target}'")
  endif()
  if(NOT arg_RUNTIME)
    set(arg_RUNTIME shared)
  endif()
  if(NOT arg_RUNTIME MATCHES "^(shared|static|none)$")
    message(FATAL_ERROR "gkhi_add_provider: RUNTIME '${arg_RUNTIME}'; wanted shared, static or none")
  endif()
  get_filename_component(input ${file} ABSOLUTE)
  get_filename_component(stem ${file} NAME_WLE)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/gkhi/${target})
  file(MAKE_DIRECTORY ${directory})
  set(header ${directory}/gkhi_${stem}.h)
  set(source ${directory}/gkhi_${stem}.c)
  set(outputs ${header} ${source})
  set(options --header ${header} --source ${source})
  if(arg_SITES)
    set(sites ${directory}/gkhi_${stem}_sites.h)
    list(APPEND outputs ${sites})
    list(APPEND options --sites ${sites})
  endif()
  _gkhi_genevent_command(command depends)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${command} generate ${input} ${options} -M ${source}.d --cmp-out
    DEPENDS ${input} ${depends}
    DEPFILE ${source}.d
    COMMENT "Generating gkhi_${stem}.h and gkhi_${stem}.c"
    VERBATIM)
  target_sources(${target} PRIVATE ${header} ${source})
  target_include_directories(${target} PRIVATE ${directory})
  _gkhi_link_runtime(${target} ${arg_RUNTIME} ${source})
  if(arg_SITES)
    gkhi_target_sites(${target} ${sites})
  endif()
endfunction()
