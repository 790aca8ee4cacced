# Device code compiled ahead by nvcc. It ends up in one object file that the library takes like any other: were the
# library itself of language CUDA, CMake would want that language of everybody who links it.

# The project's compiler serves as nvcc's, and the project's compiler cache too.
set(CMAKE_CUDA_COMPILER "${SINTER_NVCC}")
set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
set(CMAKE_CUDA_ARCHITECTURES "${SINTER_DEVICE_ARCHITECTURES}")
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER AND CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
enable_language(CUDA)

file(GLOB_RECURSE sinter_device_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/*.cu")
list(FILTER sinter_device_sources EXCLUDE REGEX "/condition[.]cu$")  # below
# "greatest": maxima, and minima as maxima of flipped values.
foreach(scan sums=sum_of products=product_of greatest=greatest_of)
  string(REGEX MATCH "^(.*)=(.*)$" scan "${scan}")
  set(name "${CMAKE_MATCH_1}")
  set(operation "${CMAKE_MATCH_2}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/scan_${name}.cu")
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/algorithms/scan_operation.cu.in" "${source}" @ONLY)
  list(APPEND sinter_device_sources "${source}")
endforeach()
add_library(sinter_device OBJECT ${sinter_device_sources})
# CMake 3.25 knows no C++20 for nvcc, so the device code makes do with C++17.
set_target_properties(sinter_device PROPERTIES
  CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF CUDA_RUNTIME_LIBRARY None
  CUDA_ARCHITECTURES "${SINTER_DEVICE_ARCHITECTURES}"
  POSITION_INDEPENDENT_CODE ON CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(sinter_device PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
# No contraction, as everywhere. Clang as nvcc's compiler sees the toolkit's headers in nvcc's output, where they are no
# longer a system's, and warns of functions there that are not called.
target_compile_options(sinter_device PRIVATE --fmad=false -Xcompiler=-Wall,-Wextra
  $<$<CXX_COMPILER_ID:Clang>:-Xcompiler=-Wno-unused-function>
  $<$<BOOL:${SINTER_WERROR}>:-Werror=all-warnings>)

# What calls functions of the device's part of the CUDA runtime is linked with it here, for architectures with code of their own: CMake
# links the device code of libraries and programs only.
set(sinter_condition_flags "")
foreach(architecture ${SINTER_DEVICE_ARCHITECTURES})
  if(architecture MATCHES "^([0-9]+[a-z]?)(-real)?$")
    list(APPEND sinter_condition_flags
      "-gencode=arch=compute_${CMAKE_MATCH_1},code=sm_${CMAKE_MATCH_1}")
  endif()
endforeach()
set(sinter_condition "${CMAKE_CURRENT_BINARY_DIR}/condition")
set(sinter_condition_objects "")
if(sinter_condition_flags)
  set(sinter_condition_objects "${sinter_condition}.o" "${sinter_condition}_link.o")
  add_custom_command(
    OUTPUT ${sinter_condition_objects}
    COMMAND "${SINTER_NVCC}" -ccbin "${CMAKE_CXX_COMPILER}" -std=c++17 -rdc=true ${sinter_condition_flags}
            -Xcompiler=-fPIC,-fvisibility=hidden "-I${CMAKE_CURRENT_SOURCE_DIR}"
            -c "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/driver/condition.cu" -o "${sinter_condition}.o"
    COMMAND "${SINTER_NVCC}" -ccbin "${CMAKE_CXX_COMPILER}" ${sinter_condition_flags} -Xcompiler=-fPIC
            -dlink "${sinter_condition}.o" -o "${sinter_condition}_link.o" -lcudadevrt
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/driver/condition.cu"
            "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/driver/condition.hpp"
    COMMENT "Compiling and linking the condition of CUDA graphs"
    VERBATIM)
endif()

set(sinter_device_object "${CMAKE_CURRENT_BINARY_DIR}/sinter_device.o")
add_custom_command(
  OUTPUT "${sinter_device_object}"
  COMMAND "${CMAKE_LINKER}" -r -o "${sinter_device_object}" $<TARGET_OBJECTS:sinter_device> ${sinter_condition_objects}
  DEPENDS $<TARGET_OBJECTS:sinter_device> ${sinter_condition_objects}
  COMMENT "Joining the device code"
  COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties("${sinter_device_object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
