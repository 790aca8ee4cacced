# Which sources one call of the compiler takes together where SINTER_UNITY is on. Headers, and templates of the standard
# library, then compile once for ten sources instead of ten times: less than half of the time from nothing, and far more of
# it after an edit. A source that is not named here compiles alone, as the loops with flags of their own must. Sources of
# one group share their unnamed namespace and using-directives: where two clash, move one to another group, or out.

# sinter_unity_group(folder sources...) : file names without ".cpp", relative to the top of the repository.
function(sinter_unity_group folder)
  string(MAKE_C_IDENTIFIER "${folder}_${ARGV1}" group)
  foreach(name IN LISTS ARGN)
    set(source "${PROJECT_SOURCE_DIR}/${folder}/${name}.cpp")
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "sinter: src/unity.cmake names ${folder}/${name}.cpp, which is not there")
    endif()
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}")
  endforeach()
endfunction()

sinter_unity_group(jit background cache_folder compile compile_host compile_steps compile_util disk_cache
                   dynamic_library emit_cuda_loop)
sinter_unity_group(jit emit_cpu emit_cpu_module emit_cuda_map host_compiler include_scan monotone_tail optional_library program)
sinter_unity_group(jit cuda_parameters cuda_units emit_cuda emit_cuda_body emit_cpu_user prelude_select)
sinter_unity_group(jit emit_cuda_broadcast emit_user nvrtc nvrtc_library nvrtc_raw prelude_text user_error user_function)

sinter_unity_group(src/core dtype format_number half profile shape)
sinter_unity_group(src/graph array bind builder builder_call builder_points)
sinter_unity_group(src/graph call capture capture_memory explain flush index_map node ongoing_capture placement plan
                   plan_table planner record)
sinter_unity_group(src/io byte_source npy npy_format npz replace_file text_numbers text_read text_rows text_write zip_reader)
sinter_unity_group(src/runtime backend buffer device_image fourier large_blocks memory_limit parallel pool products scalar stream trace)
sinter_unity_group(src/interop dlpack foreign)

sinter_unity_group(src/backends/cpu block_plan code compilation cpu_count cpu_fourier cpu_products cpu_solvers
                   cpu_solvers_spectral cpu_stream)
sinter_unity_group(src/backends/cpu cpu_backend cpu_scan elements lanes cpu_select openblas_library product_blocks tail user_reducer)

sinter_unity_group(src/ops algorithm_calls array assign axis_set benchmark bin_rules capture contract convert creation)
sinter_unity_group(src/ops bins device dtype_info errors einsum einsum_order einsum_plan einsum_terms)
sinter_unity_group(src/ops creation_rules elementwise_arithmetic elementwise_bits elementwise_compare elementwise_math
                   elementwise_values eval)
sinter_unity_group(src/ops kernel_elementwise kernel_generalized random random_integers)
sinter_unity_group(src/ops raw_types solver_calls tuner_memory)
sinter_unity_group(src/ops fft fft_cosine fft_helpers format_elements format_time fourier_calls histogram histogramdd
                   linalg_norms)
sinter_unity_group(src/ops indexing indexing_find indexing_write kernel_call kernel_run kernel_text)
sinter_unity_group(src/ops linalg_expm linalg_factors linalg_least_squares linalg_products linalg_systems)
sinter_unity_group(src/ops linalg_spectral manipulate manipulate_axes manipulate_join memory operators pick)
sinter_unity_group(src/ops pick_write print print_options product_calls progress random_generator random_sample
                   scan)
sinter_unity_group(src/ops products reduce sample_arrays search select sets)
sinter_unity_group(src/ops promotion_args sort stream take tuner type_rules)
sinter_unity_group(src/ops raw_check raw_kernel raw_module raw_names raw_signature)
sinter_unity_group(src/ops autotune autotune_space)

if(SINTER_CUDA_FOUND)
  sinter_unity_group(src/backends/cuda cuda_algorithms cuda_backend cuda_classify cuda_code cuda_driver cuda_error cuda_graph
                     cuda_identity cuda_launch cuda_module cuda_stream cuda_timer)
  sinter_unity_group(src/backends/cuda cuda_solvers cuda_solvers_eigen cuda_fourier)
endif()

# What most of them include. Sources with flags or definitions of their own could not use it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_precompile_headers(sinter_objects PRIVATE
    <algorithm> <atomic> <charconv> <cmath> <cstring> <functional> <map> <memory> <mutex> <optional> <string> <unordered_map>
    <vector> "${PROJECT_SOURCE_DIR}/include/sinter/ndarray.hpp" "${CMAKE_CURRENT_SOURCE_DIR}/core/shape.hpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/graph/flush.hpp")
  target_compile_options(sinter_objects PRIVATE -fpch-preprocess)  # for ccache
  foreach(source IN LISTS sinter_sources)
    get_source_file_property(flags "${source}" COMPILE_OPTIONS)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    if(flags OR definitions)
      set_property(SOURCE "${source}" PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set_property(SOURCE "${sinter_prelude_cpp}" "${sinter_identity_cpp}" PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endif()
