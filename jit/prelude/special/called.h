// sinter prelude, special functions: pieces that several functions are made of are called. Kernels of long functions have this
// instead of inlined.h: there a piece stands in a dozen places, and the code would be most of the time of a compilation.
#define SN_PIECE SN_SHARED
