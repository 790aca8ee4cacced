// Closes what isa_begin.inl opened.
#if SINTER_ISA_LEVEL > 0
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
