# Loops that are compiled once for each instruction set: for each a source of its own in the build folder, made from
# jit/cpu/isa_loops.cpp.in and added to `sinter_sources`.

# sinter_isa_loops(HEADER h FMA 0|1 ISAS isa... LOOPS name...) : HEADER is included before the instruction set is enabled, FMA
# allows fused multiply-adds to code that uses them explicitly, LOOPS are headers without ".inl".
function(sinter_isa_loops)
  cmake_parse_arguments(PARSE_ARGV 0 wanted "" "HEADER;FMA" "ISAS;LOOPS")
  set(levels baseline avx2 avx512)
  set(header "${wanted_HEADER}")
  set(fma "${wanted_FMA}")
  foreach(loops IN LISTS wanted_LOOPS)
    foreach(isa IN LISTS wanted_ISAS)
      list(FIND levels ${isa} level)
      set(source "${CMAKE_CURRENT_BINARY_DIR}/isa_loops/${loops}_${isa}.cpp")
      configure_file("${PROJECT_SOURCE_DIR}/jit/cpu/isa_loops.cpp.in" "${source}" @ONLY)
      list(APPEND sinter_sources "${source}")
    endforeach()
  endforeach()
  set(sinter_sources "${sinter_sources}" PARENT_SCOPE)
endfunction()

set(block_ops jit/cpu/interpreter/block_ops.hpp)
sinter_isa_loops(HEADER ${block_ops} FMA 0 ISAS baseline avx2 avx512 LOOPS
                 jit/cpu/interpreter/cast jit/cpu/interpreter/complex_functions jit/cpu/interpreter/division
                 jit/cpu/interpreter/integer jit/cpu/interpreter/real)
sinter_isa_loops(HEADER ${block_ops} FMA 1 ISAS baseline avx2 avx512 LOOPS jit/cpu/interpreter/random)
sinter_isa_loops(HEADER jit/cpu/interpreter/special_ops.hpp FMA 1 ISAS baseline avx2 avx512 LOOPS
                 jit/cpu/interpreter/special_error
                 jit/cpu/interpreter/special_gamma
                 jit/cpu/interpreter/special_logistic
                 jit/cpu/interpreter/special_bessel
                 jit/cpu/interpreter/special_integrals
                 jit/cpu/interpreter/special_incomplete
                 jit/cpu/interpreter/special_beta
                 jit/cpu/interpreter/special_inverse
                 jit/cpu/interpreter/special_zeta
                 jit/cpu/interpreter/special_complex
                 jit/cpu/interpreter/special_legendre
                 jit/cpu/interpreter/special_order)
sinter_isa_loops(HEADER jit/cpu/interpreter/exponential.hpp FMA 1 ISAS avx2 avx512 LOOPS jit/cpu/interpreter/exponential
                 jit/cpu/interpreter/own_functions)
sinter_isa_loops(HEADER jit/cpu/interpreter/powers.hpp FMA 1 ISAS avx2 avx512 LOOPS jit/cpu/interpreter/powers)
# Complex arithmetic stops at AVX2: block_ops.hpp says why.
sinter_isa_loops(HEADER ${block_ops} FMA 0 ISAS baseline avx2 LOOPS jit/cpu/interpreter/complex)
sinter_isa_loops(HEADER backends/cpu/linalg/products.hpp FMA 0 ISAS baseline avx2 avx512 LOOPS
                 backends/cpu/linalg/product_loops)
sinter_isa_loops(HEADER backends/cpu/linalg/few_terms.hpp FMA 0 ISAS baseline avx2 avx512 LOOPS
                 backends/cpu/linalg/few_term_loops)
sinter_isa_loops(HEADER backends/cpu/reduce/reducers.hpp FMA 0 ISAS baseline avx2 avx512 LOOPS
                 backends/cpu/reduce/loops)
sinter_isa_loops(HEADER backends/cpu/algorithms/sort_network.hpp FMA 0 ISAS baseline avx2 avx512 LOOPS
                 backends/cpu/algorithms/sort_network_loops)
sinter_isa_loops(HEADER backends/cpu/strides/strided_loops.hpp FMA 0 ISAS baseline avx2 avx512 LOOPS
                 backends/cpu/strides/strided_loops)
# There are none for the baseline: 16 bytes hold too few keys for it.
sinter_isa_loops(HEADER backends/cpu/algorithms/vector_sort.hpp FMA 0 ISAS avx2 avx512 LOOPS
                 backends/cpu/algorithms/vector_sort_loops)
