// sinter prelude, special functions: pieces that several functions are made of are inlined. The other form is called.h.
#define SN_PIECE SN_FN
