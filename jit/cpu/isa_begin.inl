// Enables the instruction set SINTER_ISA (with SINTER_ISA_LEVEL 0, 1, 2) for the rest of the file. Headers of the
// standard library must be included before: an inline function of theirs compiled here could be called on machines
// without it. SINTER_ISA_FMA 1: fused multiply-adds too, for code that uses them explicitly.
#if SINTER_ISA_LEVEL == 1 && SINTER_ISA_FMA
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,f16c,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,f16c,fma")
#endif
#elif SINTER_ISA_LEVEL == 1
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#endif
#elif SINTER_ISA_LEVEL == 2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")
#endif
#endif
