// Ends what isa_begin.inl has enabled.
#if SINTER_ISA_LEVEL > 0
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
