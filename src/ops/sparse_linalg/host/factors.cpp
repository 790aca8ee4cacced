// LU factors by SuperLU, complete and incomplete.
#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/device_solve.hpp"
#include "ops/base/errors.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/host/superlu_library.hpp"
#include "ops/sparse_linalg/host/superlu_solve.hpp"
#include "ops/sparse_linalg/implicit.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "platform/host_libraries.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sparse_factors.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using sparse::sparse_array;
using sparse::linalg::superlu;
using std::int64_t;

namespace sparse::linalg::detail {

/// SuperLU's factors and what is needed to use them.
struct factored {
  const slu::library* library = nullptr;
  sinter::dtype type = dtype::f64;
  sinter::device device;
  int n = 0;
  std::vector<int> perm_r, perm_c;
  slu::matrix l{}, u{};
  mutable std::mutex unpacking;
  mutable sparse_array lower, upper;  // once they have been asked for

  factored() = default;
  factored(const factored&) = delete;
  factored& operator=(const factored&) = delete;
  ~factored() {
    if (l.store) library->Destroy_SuperNode_Matrix(&l);
    if (u.store) library->Destroy_CompCol_Matrix(&u);
  }
};

}  // namespace sparse::linalg::detail

namespace {

using sparse::linalg::detail::factored;

/// SuperLU's counters, which its functions write to.
class superlu_statistics {
 public:
  explicit superlu_statistics(const slu::library& of) : library_(of) { library_.StatInit(&now_); }
  ~superlu_statistics() { library_.StatFree(&now_); }
  superlu_statistics(const superlu_statistics&) = delete;
  superlu_statistics& operator=(const superlu_statistics&) = delete;
  slu::statistics* get() noexcept { return &now_; }

 private:
  const slu::library& library_;
  slu::statistics now_{};
};

/// A square matrix on the host by columns.
template <class T>
struct host_columns {
  std::vector<T> values;
  std::vector<int> rows, starts;
};

template <class T>
host_columns<T> columns_on_host(const char* function, const sparse_array& a) {
  return {for_host(a.data(), function).to_vector<T>(), a.indices().to_vector<int>(), a.indptr().to_vector<int>()};
}

/// csc on the host with one entry a place, in the dtype to compute in.
sparse_array factorable(const char* function, const sparse_array& a) {
  if (!a.defined()) fail<value_error>(function, "the sparse array is undefined");
  const shape_t shape = a.shape();
  if (shape[0] != shape[1]) fail<shape_error>(function, "a matrix of shape ", shape, " is not square");
  if (std::max(a.nnz(), shape[0]) >= std::numeric_limits<int>::max())
    fail<value_error>(function, "SuperLU cannot count the ", a.nnz(), " entries of a matrix of shape ", shape);
  sparse_array host = a.to_host().tocsc().astype(solver_dtype(a.dtype()));
  host.sum_duplicates();
  return host;
}

/// linalg_error unless each column has an entry in a row of its own, which SuperLU takes for granted: Duff, On Algorithms for
/// Obtaining a Maximum Transversal, 1981. A column takes its diagonal entry where it has one. Of a search's columns each first
/// looks for a row that no column has, whose entries are passed once in all: without that, searches go over most of the
/// matrix again and again.
void require_structural_rank(const char* function, const sparse_array& a) {
  const auto rows = a.indices().to_vector<int>(), starts = a.indptr().to_vector<int>();
  const int n = static_cast<int>(a.shape(0));
  const auto at = [](auto& list, int i) -> auto& { return list[static_cast<std::size_t>(i)]; };
  std::vector<int> column_of(static_cast<std::size_t>(n), -1), seen(static_cast<std::size_t>(n), -1);
  std::vector<int> next(starts.begin(), starts.end()), untried(starts.begin(), starts.end());
  for (int j = 0; j < n; ++j)
    if (std::binary_search(rows.begin() + at(starts, j), rows.begin() + at(starts, j + 1), j)) at(column_of, j) = j;
  std::vector<int> taken(static_cast<std::size_t>(n), 0);
  for (int j = 0; j < n; ++j) at(taken, j) = at(column_of, j) == j;
  /// A row of column j that no column has, or -1.
  const auto free_row = [&](int j) {
    while (at(untried, j) < at(starts, j + 1)) {
      const int row = at(rows, at(untried, j)++);
      if (at(column_of, row) < 0) return row;
    }
    return -1;
  };
  std::vector<int> path;  // columns; each but the first is that of a row of the one before it
  for (int column = 0; column < n; ++column) {
    if (at(taken, column)) continue;
    path.assign(1, column);
    at(next, column) = at(starts, column);
    int last = -1;
    while (!path.empty()) {
      const int j = path.back();
      if ((last = free_row(j)) >= 0) break;
      if (at(next, j) == at(starts, j + 1)) {
        path.pop_back();
        continue;
      }
      const int row = at(rows, at(next, j)++);
      if (at(seen, row) == column) continue;
      at(seen, row) = column;
      const int other = at(column_of, row);
      path.push_back(other);
      at(next, other) = at(starts, other);
    }
    if (path.empty())
      fail<linalg_error>(function, "the matrix of shape ", a.shape(), " is singular by the places of its entries");
    at(column_of, last) = path.back();
    path.pop_back();
    for (const int j : path) at(column_of, at(rows, at(next, j) - 1)) = j;
  }
}

int column_order(const char* function, std::string_view name) {
  if (name == "NATURAL") return slu::NATURAL;
  if (name == "MMD_ATA") return slu::MMD_ATA;
  if (name == "MMD_AT_PLUS_A") return slu::MMD_AT_PLUS_A;
  if (name == "COLAMD") return slu::COLAMD;
  fail<value_error>(function, "permc_spec is '", name, "'; it is NATURAL, MMD_ATA, MMD_AT_PLUS_A or COLAMD");
}

/// Calls f with a value of the element type.
template <class F>
auto with_element(dtype t, F f) {
  if (t == dtype::f32) return f(float{});
  if (t == dtype::c64) return f(std::complex<float>{});
  if (t == dtype::c128) return f(std::complex<double>{});
  return f(double{});
}

template <class T>
void factor_columns(const char* function, factored& to, const sparse_array& a, slu::options& how, bool incomplete) {
  host_columns<T> c = columns_on_host<T>(function, a);
  const slu::library& lib = *to.library;
  slu::columns store{static_cast<int>(c.values.size()), c.values.data(), c.rows.data(), c.starts.data()};
  slu::matrix whole{slu::NC, slu::of<T>::dtype, 0, to.n, to.n, &store}, ordered{};
  to.perm_r.resize(static_cast<std::size_t>(to.n));
  to.perm_c.resize(static_cast<std::size_t>(to.n));
  std::vector<int> etree(static_cast<std::size_t>(to.n));
  superlu_statistics statistics(lib);
  slu::global_lu memory{};
  int info = 0;
  // Its calls of the BLAS are too small to be shared; threads would wait for each other in each.
  const platform::openblas_threads blas(1);
  lib.get_perm_c(how.colperm, &whole, to.perm_c.data());
  lib.sp_preorder(&how, &whole, to.perm_c.data(), etree.data(), &ordered);
  const auto run = lib.*(incomplete ? slu::of<T>::drop : slu::of<T>::factor);
  run(&how, &ordered, lib.sp_ienv(2), lib.sp_ienv(1), etree.data(), nullptr, 0, to.perm_c.data(), to.perm_r.data(),
      &to.l, &to.u, &memory, statistics.get(), &info);
  lib.Destroy_CompCol_Permuted(&ordered);
  // Incomplete factors with a perturbed pivot are factors.
  if (info > to.n)
    fail<memory_error>(function, "SuperLU found no memory for the factors of a matrix of shape ", a.shape());
  if (info < 0) fail<linalg_error>(function, "SuperLU refuses argument ", -info);
  if (info > 0 && !incomplete && !all(isfinite(a.data())).item<bool>())
    fail<linalg_error>(function, "the matrix of shape ", a.shape(), " has elements that are not finite");
  if (info > 0 && !incomplete)
    fail<linalg_error>(function, "the matrix of shape ", a.shape(), " is singular: pivot ", info - 1, " is exactly 0");
  if (info > 0 && !to.l.store) fail<linalg_error>(function, "the matrix of shape ", a.shape(), " is singular");
}

std::shared_ptr<const factored> factor(const char* function, const sparse_array& given, slu::options how,
                                       bool incomplete) {
  const sparse_array a = factorable(function, given);
  const auto made = std::make_shared<factored>();
  made->library = &slu::opened(function);
  made->type = a.dtype();
  made->device = given.device();
  made->n = static_cast<int>(a.shape(0));
  if (made->n == 0) return made;
  require_structural_rank(function, a);
  with_element(a.dtype(),
               [&](auto element) { factor_columns<decltype(element)>(function, *made, a, how, incomplete); });
  return made;
}

/// L or U by columns: the supernodes hold L below their diagonal and U on and above it.
template <class T>
host_columns<T> unpack(const factored& f, bool lower) {
  const auto& l = *static_cast<const slu::supernodes*>(f.l.store);
  const auto& u = *static_cast<const slu::columns*>(f.u.store);
  const T *in_l = static_cast<const T*>(l.nzval), *in_u = static_cast<const T*>(u.nzval);
  host_columns<T> out;
  out.starts.push_back(0);
  const auto put = [&](int row, const T& value) {
    if (value == T(0)) return;
    out.rows.push_back(row);
    out.values.push_back(value);
  };
  for (int j = 0; j < f.n; ++j) {
    const int first = l.sup_to_col[l.col_to_sup[j]], begin = l.rowind_colptr[first], end = l.rowind_colptr[first + 1];
    if (!lower)
      for (int k = u.colptr[j]; k < u.colptr[j + 1]; ++k) put(u.rowind[k], in_u[k]);
    else put(j, T(1));
    for (int k = begin; k < end; ++k)
      if ((k - begin > j - first) == lower) put(l.rowind[k], in_l[l.nzval_colptr[j] + k - begin]);
    out.starts.push_back(static_cast<int>(out.rows.size()));
  }
  return out;
}

sparse_array unpacked(const factored& f, bool lower) {
  if (f.n == 0) return sparse::csc_array(shape_t{0, 0}, {.dtype = f.type, .device = f.device});
  return with_element(f.type, [&](auto element) {
    const auto c = unpack<decltype(element)>(f, lower);
    sparse_array a = sparse::csc_array(array(c.values, {.device = cpu}), array(c.rows, {.device = cpu}),
                                       array(c.starts, {.device = cpu}), shape_t{f.n, f.n});
    a.sort_indices();
    return a.to_device(f.device);
  });
}
sparse_array kept_factor(const std::shared_ptr<const factored>& handle, const char* function, bool lower) {
  const factored& f = defined(handle, function, "the factors");
  const std::lock_guard lock(f.unpacking);
  sparse_array& kept = lower ? f.lower : f.upper;
  if (!kept.defined()) kept = unpacked(f, lower);
  return kept;
}

template <class T>
ndarray solve_columns(const factored& f, const ndarray& b, slu::form how) {
  const value right = own_memory(value_of(b.astype(f.type))), x = unset_leaf(right->shape, f.type, right->device);
  const int64_t columns = b.ndim() == 1 ? 1 : b.shape(1);
  if (f.n > 0 && columns > 0) {
    const slu::factors factors{f.n, static_cast<const slu::supernodes*>(f.l.store),
                               static_cast<const slu::columns*>(f.u.store), f.perm_r.data(), f.perm_c.data()};
    slu::solve(factors, how, static_cast<const T*>(address_to_read(right)), columns,
               static_cast<T*>(address_to_write(x)));
  }
  return wrap(x);
}

}  // namespace

namespace sparse::linalg {

superlu splu(const sparse_array& A, const splu_kw& kw) {
  slu::options how{};
  slu::opened("splu").set_default_options(&how);
  how.colperm = column_order("splu", kw.permc_spec);
  how.symmetric_mode = kw.symmetric_mode;
  how.diag_pivot_thresh = kw.diag_pivot_thresh.value_or(kw.symmetric_mode ? 0 : 1);
  superlu made;
  made.factored_ = factor("splu", A, how, false);
  return made;
}

superlu spilu(const sparse_array& A, const spilu_kw& kw) {
  if (!(kw.drop_tol >= 0 && kw.drop_tol <= 1))
    fail<value_error>("spilu", "drop_tol is ", kw.drop_tol, ", not from 0 to 1");
  if (!(kw.fill_factor >= 1)) fail<value_error>("spilu", "fill_factor is ", kw.fill_factor, ", less than 1");
  slu::options how{};
  slu::opened("spilu").ilu_set_default_options(&how);
  how.colperm = column_order("spilu", kw.permc_spec);
  how.ilu_drop_tol = kw.drop_tol;
  how.ilu_fill_factor = kw.fill_factor;
  if (kw.diag_pivot_thresh) how.diag_pivot_thresh = *kw.diag_pivot_thresh;
  superlu made;
  made.factored_ = factor("spilu", A, how, true);
  return made;
}

shape_t superlu::shape() const {
  const int n = ops::defined(factored_, "shape", "the factors").n;
  return {n, n};
}
sinter::dtype superlu::dtype() const { return ops::defined(factored_, "dtype", "the factors").type; }
int64_t superlu::nnz() const {
  const detail::factored& f = ops::defined(factored_, "nnz", "the factors");
  if (f.n == 0) return 0;
  return int64_t{static_cast<const slu::supernodes*>(f.l.store)->nnz} +
         static_cast<const slu::columns*>(f.u.store)->nnz;
}
sparse_array superlu::L() const { return kept_factor(factored_, "L", true); }
sparse_array superlu::U() const { return kept_factor(factored_, "U", false); }
ndarray superlu::perm_r() const {
  const detail::factored& f = ops::defined(factored_, "perm_r", "the factors");
  return array(f.perm_r, {.device = f.device});
}
ndarray superlu::perm_c() const {
  const detail::factored& f = ops::defined(factored_, "perm_c", "the factors");
  return array(f.perm_c, {.device = f.device});
}

ndarray superlu::solve(const ndarray& b, char trans) const {
  const detail::factored& f = ops::defined(factored_, "solve", "the factors");
  if (!b.defined()) fail<value_error>("solve", "b is undefined (default-constructed or moved from)");
  if (b.ndim() < 1 || b.ndim() > 2 || b.shape(0) != f.n)
    fail<shape_error>("solve", "factors of shape ", shape(), " and b of shape ", b.shape());
  if (trans != 'N' && trans != 'T' && trans != 'H')
    fail<value_error>("solve", "trans is '", trans, "'; it is N, T or H");
  const slu::form how = trans == 'N' ? slu::form::plain : trans == 'T' ? slu::form::transposed : slu::form::conjugated;
  const sinter::dtype type = promote_types(f.type, solver_dtype(b.dtype()));
  // SuperLU solves in the dtype of its factors: of a wider b the parts one by one.
  if (is_complex(type) && !is_complex(f.type)) {
    const ndarray re = solve(sinter::real(b), trans), im = solve(sinter::imag(b), trans);
    return (re + std::complex<double>(0, 1) * im).astype(type, false);
  }
  const ndarray on_host = b.to_host();
  const ndarray columns =
      with_element(f.type, [&](auto element) { return solve_columns<decltype(element)>(f, on_host, how); });
  return columns.astype(type, {.copy = false, .device = b.device()});
}

ndarray spsolve(const sparse_array& A, const ndarray& b, const spsolve_kw& kw) {
  if (!b.defined()) fail<value_error>("spsolve", "b is undefined (default-constructed or moved from)");
  if (A.defined() && (b.ndim() < 1 || b.ndim() > 2 || b.shape(0) != A.shape(0)))
    fail<shape_error>("spsolve", "A of shape ", A.shape(), " and b of shape ", b.shape());
  if (is_within_interceptor() && A.defined()) [[unlikely]] {
    const std::string order(kw.permc_spec);
    const auto again = [A, order](const ndarray& right, bool turned) {
      return spsolve(turned ? A.T() : A, right, {.permc_spec = order});
    };
    const auto first = [=](const ndarray& right) { return solution{again(right, false), 0}; };
    if (auto s = solved_implicitly({"spsolve", A, 0, again}, b, first)) return s->x;
  }
  const sinter::dtype type = A.defined() ? promote_types(solver_dtype(A.dtype()), solver_dtype(b.dtype())) : float64;
  (void)column_order("spsolve", kw.permc_spec);
  if (A.defined() && A.shape(0) == A.shape(1))
    if (auto x = solved_on_device(A.astype(type), b.astype(type, false))) return *x;
  return splu(A.defined() ? A.astype(type) : A, {.permc_spec = kw.permc_spec}).solve(b);
}
sparse_array spsolve(const sparse_array& A, const sparse_array& b, const spsolve_kw& kw) {
  return csc_array(spsolve(A, b.toarray(), kw));
}
std::function<ndarray(const ndarray&)> factorized(const sparse_array& A) {
  return [factors = splu(A)](const ndarray& b) { return factors.solve(b); };
}
sparse_array inv(const sparse_array& A) {
  const superlu factors = splu(A);
  return csc_array(factors.solve(sinter::eye(factors.shape()[0], {.dtype = factors.dtype(), .device = A.device()})));
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
