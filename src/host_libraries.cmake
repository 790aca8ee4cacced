# Libraries of the distribution that are opened at run time: the build wants their headers and the names that the dynamic
# linker knows them by. What is missing is left out, and the functions that need it say which package to install.

# sinter_host_library(NAME header library package [include folders]) : where header and library are there, the sources get
# SINTER_HAS_<NAME>=1, SINTER_<NAME>_SONAME and SINTER_<NAME>_FOLDER (where the build found the library).
function(sinter_host_library name header library package)
  find_path(SINTER_${name}_INCLUDE ${header} PATH_SUFFIXES ${ARGN})
  find_library(SINTER_${name}_LIBRARY ${library})
  mark_as_advanced(SINTER_${name}_INCLUDE SINTER_${name}_LIBRARY)
  _sinter_file_soname(soname "${SINTER_${name}_LIBRARY}")
  if(NOT SINTER_${name}_INCLUDE OR NOT soname)
    message(STATUS "sinter: going on without ${library} (${header} and lib${library}.so); install ${package}")
    return()
  endif()
  get_filename_component(folder "${SINTER_${name}_LIBRARY}" DIRECTORY)
  target_include_directories(sinter_objects SYSTEM PRIVATE "${SINTER_${name}_INCLUDE}")
  target_compile_definitions(sinter_objects PRIVATE
    SINTER_HAS_${name}=1 SINTER_${name}_SONAME="${soname}" SINTER_${name}_FOLDER="${folder}")
endfunction()

# openblas_config.h lies beside the cblas.h that knows OpenBLAS's own functions.
sinter_host_library(OPENBLAS openblas_config.h openblas libopenblas-dev openblas openblas-pthread openblas-openmp)
sinter_host_library(LAPACKE lapacke.h lapacke liblapacke-dev)
sinter_host_library(FFTW fftw3.h fftw3 libfftw3-dev)
sinter_host_library(FFTWF fftw3.h fftw3f libfftw3-dev)
sinter_host_library(ZIP zip.h zip libzip-dev)
