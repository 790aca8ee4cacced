// src/ops/sparse_linalg/host: factorisations of sparse matrices on the host.
//
// SuperLU 5, opened on first use: its structures and functions, declared as its headers have them (libsuperlu-dev 5.3, indices
// of 32 bits).
#pragma once
#include <complex>

#include "platform/optional_library.hpp"

namespace sinter::ops::slu {

enum : int { NC = 0, SC = 3 };                               // Stype_t
enum : int { NATURAL = 0, MMD_ATA, MMD_AT_PLUS_A, COLAMD };  // colperm_t

struct matrix {
  int stype, dtype, mtype, nrow, ncol;
  void* store;
};
struct columns {  // NCformat
  int nnz;
  void* nzval;
  int *rowind, *colptr;
};
struct supernodes {  // SCformat
  int nnz, nsuper;
  void* nzval;
  int *nzval_colptr, *rowind, *rowind_colptr, *col_to_sup, *sup_to_col;
};
struct options {
  int fact, equil, colperm, trans, refine;
  double diag_pivot_thresh;
  int symmetric_mode, pivot_growth, condition_number, rowperm, ilu_drop_rule;
  double ilu_drop_tol, ilu_fill_factor;
  int ilu_norm;
  double ilu_fill_tol;
  int ilu_milu;
  double ilu_milu_dim;
  int par_symb_fact, replace_tiny_pivot, solve_initialized, refine_initialized, print_stat, nnz_l, nnz_u, lookaheads,
      lookahead_etree, sym_pattern;
};
struct statistics {
  int* panel_histo;
  double* utime;
  float* ops;
  int tiny_pivots, refine_steps, expansions;
};
struct global_lu {
  int *xsup, *supno, *lsub, *xlsub;
  void* lusup;
  int* xlusup;
  void* ucol;
  int *usub, *xusub;
  int nzlmax, nzumax, nzlumax, n, mem_model, num_expansions;
  void* expanders;
  int size, used, top1, top2;
  void* array;
};

using set_default_options_type = void(options*);
using ilu_set_default_options_type = void(options*);
using get_perm_c_type = void(int, matrix*, int*);
using sp_preorder_type = void(options*, matrix*, int*, int*, matrix*);
using sp_ienv_type = int(int);
using StatInit_type = void(statistics*);
using StatFree_type = void(statistics*);
using Destroy_SuperNode_Matrix_type = void(matrix*);
using Destroy_CompCol_Matrix_type = void(matrix*);
using Destroy_CompCol_Permuted_type = void(matrix*);
using factor_type = void(options*, matrix*, int, int, int*, void*, int, int*, int*, matrix*, matrix*, global_lu*,
                         statistics*, int*);
#define SINTER_SUPERLU_TYPES(P)      \
  using P##gstrf_type = factor_type; \
  using P##gsitrf_type = factor_type;
SINTER_SUPERLU_TYPES(s)
SINTER_SUPERLU_TYPES(d)
SINTER_SUPERLU_TYPES(c)
SINTER_SUPERLU_TYPES(z)
#undef SINTER_SUPERLU_TYPES

// clang-format off
#define SINTER_SUPERLU_OF(F, P) F(P##gstrf) F(P##gsitrf)
#define SINTER_SUPERLU_FUNCTIONS(F)                                                                          \
  SINTER_SUPERLU_OF(F, s) SINTER_SUPERLU_OF(F, d) SINTER_SUPERLU_OF(F, c) SINTER_SUPERLU_OF(F, z)            \
  F(set_default_options) F(ilu_set_default_options) F(get_perm_c) F(sp_preorder) F(sp_ienv) F(StatInit)      \
  F(StatFree) F(Destroy_SuperNode_Matrix) F(Destroy_CompCol_Matrix) F(Destroy_CompCol_Permuted)
// clang-format on
SINTER_DECLARED_TABLE(library, SINTER_SUPERLU_FUNCTIONS);

/// Opens it if need be; throws device_error, in the name of a public function, where it cannot be used.
const library& opened(const char* function);

/// The functions of an element type, and SuperLU's number for it.
template <class T>
struct of;
#define SINTER_SUPERLU_ELEMENT(T, P, NUMBER)           \
  template <>                                          \
  struct of<T> {                                       \
    static constexpr int dtype = NUMBER;               \
    static constexpr auto factor = &library::P##gstrf; \
    static constexpr auto drop = &library::P##gsitrf;  \
  };
SINTER_SUPERLU_ELEMENT(float, s, 0)
SINTER_SUPERLU_ELEMENT(double, d, 1)
SINTER_SUPERLU_ELEMENT(std::complex<float>, c, 2)
SINTER_SUPERLU_ELEMENT(std::complex<double>, z, 3)
#undef SINTER_SUPERLU_ELEMENT

}  // namespace sinter::ops::slu
