# Decides whether the CUDA backend is built, and says which toolkit it takes or why it takes none.
# Sets SINTER_CUDA_FOUND, SINTER_NVCC, SINTER_DEVICE_ARCHITECTURES (what nvcc compiles for), and SINTER_<LIBRARY>_SONAME for
# the libraries that are opened at run time.

set(SINTER_CUDA_MINIMUM 12.8)  # cudaLibraryLoadData and its relatives

# What FindCUDAToolkit remembers of a toolkit that was refused must not spoil the next search.
function(_sinter_forget_toolkit)
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name IN LISTS names)
    if(name MATCHES "^CUDAToolkit_(BIN_DIR|NVCC_EXECUTABLE|INCLUDE_DIR|SENTINEL_FILE)$|^CUDA_CUDART$")
      unset(${name} CACHE)
    endif()
  endforeach()
endfunction()

# A toolkit of the distribution that is first on PATH must not hide a newer one in /usr/local. A macro, since the
# imported targets and variables of find_package belong to the caller.
macro(_sinter_find_toolkit)
  find_package(CUDAToolkit ${SINTER_CUDA_MINIMUM} QUIET)
  if(NOT CUDAToolkit_FOUND AND NOT DEFINED CUDAToolkit_ROOT)
    set(_sinter_first_version "${CUDAToolkit_VERSION}")
    file(GLOB _sinter_roots LIST_DIRECTORIES true /usr/local/cuda-*)
    list(SORT _sinter_roots COMPARE NATURAL ORDER DESCENDING)
    list(PREPEND _sinter_roots /usr/local/cuda)
    foreach(_sinter_root IN LISTS _sinter_roots)
      if(NOT CUDAToolkit_FOUND AND EXISTS "${_sinter_root}/include/cuda_runtime_api.h")
        _sinter_forget_toolkit()
        foreach(_sinter_name IN ITEMS VERSION TARGET_DIR INCLUDE_DIR BIN_DIR LIBRARY_ROOT)
          unset(CUDAToolkit_${_sinter_name})
        endforeach()
        set(CUDAToolkit_ROOT "${_sinter_root}")
        find_package(CUDAToolkit ${SINTER_CUDA_MINIMUM} QUIET)
        unset(CUDAToolkit_ROOT)
      endif()
    endforeach()
    if(NOT CUDAToolkit_FOUND AND _sinter_first_version)
      set(CUDAToolkit_VERSION "${_sinter_first_version}")
    endif()
  endif()
endmacro()

# The name that the dynamic loader knows the library in a file by; empty where it cannot be read.
function(_sinter_file_soname out file)
  set(name "")
  if(file AND CMAKE_OBJDUMP)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p "${file}" OUTPUT_VARIABLE dump ERROR_QUIET)
    if(dump MATCHES "SONAME +([^ \n]+)")
      set(name "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# The soname of a library of the toolkit; they carry different major versions. `major` is a guess for toolkits that come
# without the library.
function(_sinter_soname out library major)
  set(name "")
  if(TARGET CUDA::${library})
    get_target_property(path CUDA::${library} IMPORTED_LOCATION)
    _sinter_file_soname(name "${path}")
  endif()
  if(NOT name)
    set(name "lib${library}.so.${major}")
  endif()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# sinter_toolkit_library(NAME header library major) : where the toolkit has the header of a library that is opened at run
# time, the sources get SINTER_HAS_<NAME>=1 and SINTER_<NAME>_SONAME.
function(sinter_toolkit_library name header library major)
  find_file(SINTER_${name}_HEADER ${header} PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
  mark_as_advanced(SINTER_${name}_HEADER)
  if(NOT SINTER_${name}_HEADER)
    message(STATUS "sinter: the CUDA toolkit has no ${header}, going on without ${library}")
    return()
  endif()
  _sinter_soname(soname ${library} ${major})
  target_compile_definitions(sinter_objects PRIVATE SINTER_HAS_${name}=1 SINTER_${name}_SONAME="${soname}")
endfunction()

# Why nvcc cannot compile with this host compiler and the toolkit's CUB, or nothing. Tried once for each combination.
function(_sinter_try_nvcc out)
  set(combination "${SINTER_NVCC};${CUDAToolkit_VERSION};${CMAKE_CXX_COMPILER};${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT "${combination}" STREQUAL "${_SINTER_NVCC_TRIED}")
    set(probe "${CMAKE_CURRENT_BINARY_DIR}/nvcc_probe")
    file(WRITE "${probe}.cu" "#include <cub/version.cuh>
#include <tuple>
#include <vector>
#if CUB_VERSION < 200700
#error its CUB is older than 2.7
#endif
__global__ void probe(int* p) { *p = 1; }
void call(int* p) { probe<<<1, 1>>>(p); }
")
    execute_process(
      COMMAND "${SINTER_NVCC}" -std=c++17 -ccbin "${CMAKE_CXX_COMPILER}" -c "${probe}.cu" -o "${probe}.o"
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    set(why "")
    if(NOT status EQUAL 0)
      string(REGEX MATCH "[^\n]*(error|fatal)[^\n]*" why "${said}")
      set(why "nvcc cannot compile with ${CMAKE_CXX_COMPILER}: ${why}")
    endif()
    set(_SINTER_NVCC_TRIED "${combination}" CACHE INTERNAL "")
    set(_SINTER_NVCC_FAULT "${why}" CACHE INTERNAL "")
  endif()
  set(${out} "${_SINTER_NVCC_FAULT}" PARENT_SCOPE)
endfunction()

# The compute capabilities of the GPUs present ("80;90"), or nothing. Whatever goes wrong, there is no GPU.
function(_sinter_gpus_present out)
  set(found "")
  find_program(_sinter_smi nvidia-smi NO_CACHE)
  if(_sinter_smi)
    execute_process(COMMAND "${_sinter_smi}" --query-gpu=compute_cap --format=csv,noheader
                    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_QUIET TIMEOUT 30)
    if(status EQUAL 0)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${said}")
      string(REPLACE "." "" found "${found}")
    endif()
  endif()
  if(NOT found AND EXISTS "${CUDAToolkit_BIN_DIR}/__nvcc_device_query")
    execute_process(COMMAND "${CUDAToolkit_BIN_DIR}/__nvcc_device_query"
                    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_QUIET TIMEOUT 30)
    if(status EQUAL 0)
      string(REGEX MATCHALL "[0-9]+" found "${said}")
    endif()
  endif()
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE NATURAL)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The GPUs present as architectures that this nvcc knows: a newer GPU gets the newest intermediate code instead, and one
# that nvcc no longer serves is left out.
function(_sinter_present_architectures out)
  _sinter_gpus_present(present)
  execute_process(COMMAND "${SINTER_NVCC}" --list-gpu-arch RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" known "${said}")
  list(SORT known COMPARE NATURAL)
  set(list "")
  foreach(gpu IN LISTS present)
    set(below "")
    foreach(name IN LISTS known)
      if(NOT name GREATER gpu)
        set(below "${name}")
      endif()
    endforeach()
    if(gpu IN_LIST known)
      list(APPEND list "${gpu}-real")
    elseif(below)
      list(APPEND list "${below}-virtual")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES list)
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

# CMake's own `native` breaks the configuration of machines without a GPU, so it never gets that far.
function(_sinter_architectures out)
  set(wanted "${SINTER_CUDA_ARCHITECTURES}")
  if(NOT wanted)
    set(wanted "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  if(NOT wanted OR wanted STREQUAL "native")
    _sinter_present_architectures(list)
    if(NOT list AND wanted)
      message(FATAL_ERROR "sinter: the CUDA architecture is `native`, but there is no GPU that nvcc serves")
    elseif(NOT list)
      set(list 90)
    endif()
  else()
    set(list "${wanted}")
  endif()
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

set(SINTER_CUDA_FOUND FALSE)
if(SINTER_CUDA STREQUAL "OFF")
  set(_sinter_why "SINTER_CUDA is OFF")
else()
  _sinter_find_toolkit()
  if(CUDAToolkit_FOUND)
    find_file(_sinter_nvrtc_header nvrtc.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT CUDAToolkit_FOUND AND CUDAToolkit_VERSION)
    set(_sinter_why "the CUDA toolkit found is ${CUDAToolkit_VERSION}, ${SINTER_CUDA_MINIMUM} or newer is needed")
  elseif(NOT CUDAToolkit_FOUND)
    set(_sinter_why "no CUDA toolkit found; set CUDAToolkit_ROOT if there is one")
  elseif(NOT TARGET CUDA::cudart_static)
    set(_sinter_why "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no libcudart_static.a")
  elseif(NOT _sinter_nvrtc_header)
    set(_sinter_why "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no nvrtc.h")
  elseif(NOT EXISTS "${CUDAToolkit_NVCC_EXECUTABLE}")
    set(_sinter_why "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no nvcc")
  else()
    set(SINTER_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}")
    _sinter_try_nvcc(_sinter_why)
    if(NOT _sinter_why)
      set(SINTER_CUDA_FOUND TRUE)
    endif()
  endif()
endif()

if(SINTER_CUDA_FOUND)
  _sinter_soname(SINTER_NVRTC_SONAME nvrtc ${CUDAToolkit_VERSION_MAJOR})
  _sinter_architectures(SINTER_DEVICE_ARCHITECTURES)
  message(STATUS "sinter: CUDA backend on: toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_LIBRARY_DIR}, "
                 "device code for ${SINTER_DEVICE_ARCHITECTURES}")
elseif(SINTER_CUDA STREQUAL "ON")
  message(FATAL_ERROR "sinter: SINTER_CUDA is ON, but ${_sinter_why}")
else()
  message(STATUS "sinter: CUDA backend off, CPU only: ${_sinter_why}")
endif()
