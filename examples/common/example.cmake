include("${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

# sinter_example_objects(<name> <files>...): the target <name>_objects, which a program and the tests share. The objects
# see the library's headers; whoever takes them links the library and sinter_example_common.
function(sinter_example_objects name)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_compile_features(${name}_objects PUBLIC cxx_std_20)
  target_include_directories(${name}_objects PRIVATE "${PROJECT_SOURCE_DIR}/include" PUBLIC "${PROJECT_SOURCE_DIR}/examples")
  target_compile_options(${name}_objects PRIVATE -Wall -Wextra $<$<BOOL:${SINTER_WERROR}>:-Werror>)
endfunction()

# sinter_example(<name> [<other objects' name>...]): the program <name> of the folder's sources; <name>_objects has all but
# main.cpp. Each <kernel>.cu becomes the std::string_view <name>::<kernel>_cuda.
function(sinter_example name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  file(GLOB kernels CONFIGURE_DEPENDS *.cu)
  set(embedded "${CMAKE_CURRENT_BINARY_DIR}/cuda_sources.cpp")
  sinter_embed_cuda("${embedded}" ${name} ${kernels})
  sinter_example_objects(${name} ${sources} "${embedded}")

  add_executable(${name} main.cpp $<TARGET_OBJECTS:${name}_objects>)
  foreach(other IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${other}_objects>)
  endforeach()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/examples")
  target_link_libraries(${name} PRIVATE sinter::sinter sinter_example_common)
  target_compile_options(${name} PRIVATE -Wall -Wextra $<$<BOOL:${SINTER_WERROR}>:-Werror>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()
