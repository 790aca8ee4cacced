# Which sources one call of the compiler takes together where SINTER_UNITY is on. Headers, and templates of the standard
# library, then compile once for ten sources instead of ten times: less than half of the time from nothing, and far more of
# it after an edit. A source that is not named here compiles alone, as the loops with flags of their own must. Sources of
# one group share their unnamed namespace and using-directives: where two clash, move one to another group, or out.

# sinter_unity_group(sources...) : paths from the top of the repository, without ".cpp".
function(sinter_unity_group)
  string(MAKE_C_IDENTIFIER "${ARGV0}" group)
  foreach(name IN LISTS ARGN)
    set(source "${PROJECT_SOURCE_DIR}/${name}.cpp")
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "sinter: src/unity.cmake names ${name}.cpp, which is not there")
    endif()
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}")
  endforeach()
endfunction()

sinter_unity_group(src/platform/background src/platform/cache_folder jit/compile jit/cpu/compile_host
                   jit/compile_steps src/platform/files src/platform/disk_cache src/platform/dynamic_library
                   jit/cuda/shapes/emit_loop jit/cuda/shapes/emit_windows)
sinter_unity_group(jit/cpu/emit jit/cpu/emit_module jit/cuda/shapes/emit_map jit/cuda/tiles/emit_tiles
                   jit/cuda/tiles/emit_reduce_tiles jit/cuda/schedule/legal_tiles jit/cuda/schedule/legal_windows
                   jit/cpu/host_compiler jit/program/include_scan
                   jit/program/monotone_tail src/platform/optional_library jit/program/program jit/program/rewrite/repetition
                   jit/program/rewrite/roll jit/program/rewrite/plain_reads jit/program/rewrite/wrapped_reads jit/program/stages)
sinter_unity_group(jit/cuda/parameters jit/cuda/units jit/cuda/emit jit/cuda/emit_body jit/cuda/emit_lines
                   jit/cuda/emit_rolled jit/cuda/emit_kernel jit/cpu/emit_quotients jit/cpu/emit_forms jit/cpu/emit_halves jit/cpu/emit_runs jit/cpu/emit_user jit/cuda/prelude_select
                   jit/cuda/shapes/emit_stages jit/cuda/shapes/kept jit/cuda/shapes/emit_reduction)
sinter_unity_group(jit/cpu/emit_fixed jit/cpu/emit_fixed_reduce jit/cpu/fixed_phase jit/cpu/fixed_ranges)
sinter_unity_group(jit/schedule/schedule jit/cuda/schedule/choose jit/cuda/schedule/describe jit/cuda/schedule/estimate)
sinter_unity_group(jit/cuda/shapes/emit_broadcast jit/user_text jit/cuda/nvrtc jit/cuda/library/nvrtc jit/cuda/nvrtc_raw
                   jit/prelude_text jit/user_error jit/program/user_function)

sinter_unity_group(src/core/dtype src/core/format_number src/core/half src/core/profile src/core/shape)
sinter_unity_group(src/graph/run/array src/graph/plan/bind src/graph/plan/builder src/graph/plan/builder_call
                   src/graph/plan/builder_points src/graph/plan/builder_short src/graph/plan/builder_reduce src/graph/plan/forms/short_sums src/graph/plan/stage_builder
                   src/graph/plan/stages)
sinter_unity_group(src/graph/run/call src/graph/capture/capture src/graph/capture/memory src/graph/capture/recording_capture src/graph/run/explain
                   src/graph/run/flush src/graph/run/launch_times src/graph/plan/forms/index_map src/graph/values/node
                   src/graph/values/regions src/graph/run/ongoing_capture src/graph/run/placement src/graph/plan/plan src/graph/plan/table src/graph/plan/planner src/graph/plan/join src/graph/plan/writes
                   src/graph/plan/cuts src/graph/run/live_values
                   src/graph/plan/plan_cache src/graph/plan/signature
                   src/graph/values/record)
sinter_unity_group(src/graph/plan/steps/step_lowering src/graph/plan/steps/step_loop src/graph/run/step_loop_run)
sinter_unity_group(src/io/byte_source src/io/npy src/io/npy_format src/io/npz src/io/replace_file src/io/text_numbers
                   src/io/text_read src/io/text_rows src/io/text_write src/io/zip_reader)
sinter_unity_group(src/runtime/backend src/runtime/buffer src/runtime/device_image src/runtime/algorithms/fourier
                   src/runtime/large_blocks src/runtime/memory_limit src/runtime/parallel src/runtime/pool
                   src/runtime/algorithms/products jit/program/scalar src/runtime/stream src/runtime/trace)
sinter_unity_group(src/interop/dlpack src/interop/foreign)

sinter_unity_group(src/backends/cpu/kernels/block_plan src/backends/cpu/kernels/code
                   src/backends/cpu/kernels/compilation src/backends/cpu/kernels/panel src/backends/cpu/algorithms/count
                   src/backends/cpu/algorithms/partition src/backends/cpu/algorithms/ranks
                   src/backends/cpu/fft/fourier src/backends/cpu/linalg/products src/backends/cpu/linalg/solvers
                   src/backends/cpu/linalg/solvers_spectral src/backends/cpu/stream src/backends/cpu/fixed_steps
                   src/backends/cpu/fixed_code src/backends/cpu/recorded_list)
sinter_unity_group(src/backends/cpu/kernels/row_reads src/backends/cpu/kernels/transpose
                   src/backends/cpu/copies/transposed_copy src/backends/cpu/linalg/small_lu)
sinter_unity_group(src/backends/cpu/backend src/backends/cpu/prepared_table src/backends/cpu/parts_table src/backends/cpu/algorithms/scan/scan src/backends/cpu/kernels/elements src/backends/cpu/kernels/repeated_elements
                   src/backends/cpu/kernels/lanes src/backends/cpu/kernels/row_gather
                   src/backends/cpu/kernels/segments src/backends/cpu/schedule
                   src/backends/cpu/algorithms/select
                   src/backends/cpu/linalg/openblas_library src/backends/cpu/linalg/product_blocks
                   src/backends/cpu/kernels/tail
                   src/backends/cpu/reduce/user_reducer)

sinter_unity_group(src/ops/base/algorithm_calls src/ops/base/array src/ops/indexing/assign src/ops/base/axis_set
                   src/ops/tuning/benchmark src/ops/reduce/bin_rules src/ops/base/capture src/ops/linalg/contract
                   src/ops/base/convert src/ops/shape/creation)
sinter_unity_group(src/ops/reduce/bins src/ops/base/device src/ops/elementwise/dtype_info src/ops/base/errors
                   src/ops/linalg/einsum src/ops/linalg/einsum_order src/ops/linalg/einsum_plan
                   src/ops/linalg/einsum_terms)
sinter_unity_group(src/ops/shape/creation_rules src/ops/elementwise/arithmetic src/ops/elementwise/bits
                   src/ops/elementwise/compare src/ops/elementwise/math src/ops/base/elementwise_values
                   src/ops/base/eval)
sinter_unity_group(src/ops/kernels/elementwise src/ops/kernels/generalized src/ops/random/random
                   src/ops/random/integers)
sinter_unity_group(src/ops/raw/types src/ops/linalg/solver_calls src/ops/tuning/tuner_memory)
sinter_unity_group(src/ops/special/special src/ops/special/special_values src/ops/special/exponentials
                   src/ops/special/complex)
sinter_unity_group(src/ops/fft/fft src/ops/fft/cosine src/ops/fft/helpers src/ops/print/format_elements
                   src/ops/tuning/format_time src/ops/fft/fourier_calls src/ops/reduce/histogram
                   src/ops/reduce/histogramdd src/ops/linalg/norms)
sinter_unity_group(src/ops/indexing/indexing src/ops/indexing/find src/ops/indexing/write src/ops/kernels/call
                   src/ops/kernels/run src/ops/kernels/text)
sinter_unity_group(src/ops/sparse_linalg/iteration src/ops/sparse_linalg/conjugate src/ops/sparse_linalg/gmres
                   src/ops/sparse_linalg/bidiagonal src/ops/sparse_linalg/lsmr
                   src/ops/sparse_linalg/lsqr src/ops/sparse_linalg/minres src/ops/sparse_linalg/steps)
sinter_unity_group(src/dist/layout src/dist/mesh_state src/dist/shards src/dist/slices src/dist/transfers src/dist/partition_unmade)
sinter_unity_group(src/dist/partitioner src/dist/partition_views src/dist/partition_reduce)
sinter_unity_group(src/dist/partition_sums src/dist/evaluation src/dist/api)
sinter_unity_group(src/dist/calls/opaque src/dist/calls/opaque_counts src/dist/calls/opaque_order src/dist/calls/opaque_products
  src/dist/calls/opaque_scans src/dist/calls/opaque_select)
sinter_unity_group(src/ops/sparse_linalg/eigen/lanczos src/ops/sparse_linalg/eigen/eigen src/ops/sparse_linalg/functions
                   src/ops/sparse_linalg/onenormest src/ops/sparse_linalg/host/factors
                   src/ops/sparse_linalg/host/superlu_library src/ops/sparse_linalg/host/triangular)
sinter_unity_group(src/ops/linalg/expm src/ops/linalg/factors src/ops/linalg/least_squares src/ops/linalg/multi_dot
                   src/ops/linalg/systems)
sinter_unity_group(src/ops/linalg/spectral src/ops/shape/manipulate src/ops/shape/memory_order src/ops/base/axes src/ops/shape/join
                   src/ops/base/memory src/ops/elementwise/operators src/ops/indexing/advanced_index)
sinter_unity_group(src/ops/indexing/advanced_write src/ops/print/print src/ops/print/options src/ops/linalg/product_calls
                   src/ops/tuning/progress src/ops/random/generator src/ops/random/sample src/ops/reduce/scan
                   src/ops/indexing/masked)
sinter_unity_group(src/ops/linalg/products src/ops/reduce/reduce src/ops/tuning/sample_arrays src/ops/reduce/search
                   src/ops/indexing/select src/ops/reduce/sets)
sinter_unity_group(src/ops/base/promotion_args src/ops/reduce/sort src/ops/base/stream src/ops/indexing/take
                   src/ops/tuning/tuner src/ops/base/type_rules)
sinter_unity_group(src/ops/raw/check src/ops/raw/kernel src/ops/raw/module src/ops/raw/names src/ops/raw/signature)
sinter_unity_group(src/ops/tuning/autotune src/ops/tuning/autotune_space)
sinter_unity_group(src/ops/statistics/average src/ops/statistics/nan_reduce src/ops/base/methods
                   src/ops/elementwise/parts)
sinter_unity_group(src/ops/numerics/sampled src/ops/numerics/choices src/ops/numerics/windows)
sinter_unity_group(src/ops/numerics/polynomial src/ops/numerics/convolve src/ops/shape/pad src/ops/numerics/polynomial_fit
                   src/ops/reduce/segments src/ops/numerics/bits src/ops/base/at_call)
sinter_unity_group(src/ops/shape/edit src/ops/shape/grids src/ops/random/distributions
                   src/ops/random/composed src/ops/random/rejections)
sinter_unity_group(src/ops/linalg/host/factors_on_host src/ops/linalg/host/structured)
sinter_unity_group(src/ops/spatial/metrics src/ops/spatial/cdist src/ops/spatial/tree src/ops/spatial/kdtree)
sinter_unity_group(src/ops/spatial/knn src/ops/spatial/neighbors src/ops/cluster/means src/ops/cluster/lloyd
                   src/ops/cluster/kmeans)
sinter_unity_group(src/ops/cluster/dbscan src/ops/cluster/linkage src/ops/cluster/fcluster src/ops/spatial/text_walks)

sinter_unity_group(src/ops/derivatives/element_rules src/ops/derivatives/node_rules src/ops/derivatives/reduce_rules
                   src/ops/derivatives/regions src/ops/derivatives/selection_rules src/ops/derivatives/special_rules
                   src/ops/random/multivariate)
sinter_unity_group(src/ops/derivatives/factor_rules src/ops/derivatives/functions src/ops/derivatives/gather_rules
                   src/ops/derivatives/opaque_rules src/ops/derivatives/order_rules src/ops/derivatives/system_rules
                   src/ops/derivatives/transform_rules src/ops/derivatives/walks)
sinter_unity_group(src/ops/vmap/batching src/ops/vmap/example_level src/ops/vmap/opaque_rules src/ops/vmap/opaque_writes
                   src/ops/vmap/own_calls src/ops/vmap/vmap src/ops/loops/loops)
sinter_unity_group(src/runtime/collectives/combine src/runtime/collectives/communicator src/runtime/collectives/in_process
                   src/runtime/collectives/open src/runtime/collectives/mpi_ends)
sinter_unity_group(src/runtime/collectives/mpi_job src/runtime/collectives/mpi_ranks)
sinter_unity_group(src/runtime/collectives/nccl_library src/runtime/collectives/nccl_ranks src/runtime/collectives/nccl_watch
                   src/runtime/collectives/nccl_group)
sinter_unity_group(src/ops/sparse/array src/ops/sparse/build src/ops/sparse/convert src/ops/sparse/elementwise
                   src/ops/sparse/join src/ops/sparse/make src/ops/sparse/merge src/ops/sparse/order)
sinter_unity_group(src/ops/sparse/parts src/ops/sparse/print src/ops/sparse/products src/ops/sparse/reduce
                   src/ops/sparse/slice src/ops/sparse/sparse_products src/io/sparse_npz)
sinter_unity_group(src/ops/sparse_linalg/eigen/gram src/ops/sparse_linalg/eigen/inverses src/ops/sparse_linalg/eigen/lobpcg
                   src/ops/sparse_linalg/operators src/ops/spatial/host_order src/ops/spatial/host_walks)
sinter_unity_group(src/graph/values/example src/graph/values/trace src/ops/base/opaque_call src/ops/linalg/host/matrix_roots
                   src/ops/linalg/matrices src/ops/statistics/quantile src/ops/special/composed)

if(SINTER_CUDA_FOUND)
  sinter_unity_group(src/backends/cuda/algorithms/algorithms src/backends/cuda/backend jit/cuda/schedule/legal
                     src/backends/cuda/code src/backends/cuda/driver/driver src/backends/cuda/driver/error
                     src/backends/cuda/driver/graph src/backends/cuda/driver/identity jit/cuda/launch
                     src/backends/cuda/raw/module src/backends/cuda/driver/stream src/backends/cuda/timer)
  sinter_unity_group(src/backends/cuda/linalg/solvers src/backends/cuda/linalg/solvers_eigen
                     src/backends/cuda/fft/fourier)
endif()

# What most of them include. Sources with flags or definitions of their own could not use it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_precompile_headers(sinter_objects PRIVATE
    <algorithm> <array> <atomic> <charconv> <cmath> <cstring> <functional> <map> <memory> <mutex> <optional> <string> <unordered_map>
    <vector> "${PROJECT_SOURCE_DIR}/include/sinter/ndarray.hpp" "${CMAKE_CURRENT_SOURCE_DIR}/core/shape.hpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/graph/run/flush.hpp")
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
