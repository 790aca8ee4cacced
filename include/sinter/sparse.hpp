// Sparse matrices with SciPy's names: functions of them, ways to build them, files. The class, its makers and its products
// are in sparse_array.hpp, which also says what holds for all of them. Not part of sinter.hpp.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sinter/eval.hpp"
#include "sinter/random.hpp"
#include "sinter/sparse_array.hpp"

namespace sinter::inline v0 {
namespace sparse {

// ---- of each element: functions that are 0 at 0, recorded for the data. Entries of equal place are added up first, which
// waits where it is not known that there are none.
sparse_array abs(const sparse_array& a);
inline sparse_array absolute(const sparse_array& a) { return abs(a); }
sparse_array sqrt(const sparse_array& a);
sparse_array square(const sparse_array& a);
sparse_array sign(const sparse_array& a);
sparse_array sin(const sparse_array& a);
sparse_array tan(const sparse_array& a);
sparse_array arcsin(const sparse_array& a);
sparse_array arctan(const sparse_array& a);
sparse_array sinh(const sparse_array& a);
sparse_array tanh(const sparse_array& a);
sparse_array arcsinh(const sparse_array& a);
sparse_array arctanh(const sparse_array& a);
sparse_array expm1(const sparse_array& a);
sparse_array log1p(const sparse_array& a);
sparse_array floor(const sparse_array& a);
sparse_array ceil(const sparse_array& a);
sparse_array trunc(const sparse_array& a);
sparse_array rint(const sparse_array& a);
sparse_array deg2rad(const sparse_array& a);
sparse_array rad2deg(const sparse_array& a);
inline sparse_array conj(const sparse_array& a) { return a.conj(); }
inline sparse_array real(const sparse_array& a) { return a.real(); }
inline sparse_array imag(const sparse_array& a) { return a.imag(); }
inline sparse_array power(const sparse_array& a, const scalar& n, const element_kw& kw = {}) { return a.power(n, kw); }
inline sparse_array multiply(const sparse_array& a, const operand& x) { return a.multiply(x); }
inline sparse_array multiply(const sparse_array& a, const sparse_array& b) { return a.multiply(b); }
/// Larger (smaller) element at each place; NaN wins; zeros dropped.
inline sparse_array maximum(const sparse_array& a, const sparse_array& b) { return a.maximum(b); }
inline sparse_array minimum(const sparse_array& a, const sparse_array& b) { return a.minimum(b); }
inline sparse_array maximum(const sparse_array& a, const scalar& x) { return a.maximum(x); }
inline sparse_array minimum(const sparse_array& a, const scalar& x) { return a.minimum(x); }
inline ndarray maximum(const sparse_array& a, const ndarray& x) { return a.maximum(x); }
inline ndarray minimum(const sparse_array& a, const ndarray& x) { return a.minimum(x); }

/// Norms as scipy.sparse.linalg.norm: of all elements "fro" (the default), "1" (largest sum of a column's moduli), "-1"
/// (smallest), "inf", "-inf" (of rows). 0-d. value_error for others.
ndarray norm(const sparse_array& a, std::string_view ord = "fro");
/// 2-norm of each column (axis 0) or row (axis 1).
ndarray norm(const sparse_array& a, std::int64_t axis);

// ---- building

/// Keywords of what builds arrays. `format` is the result's, csr unless given.
struct build_kw {
  kwonly _kw{};
  sparse::format format = sparse::format::csr;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
};
/// Ones (float64) on the k-th diagonal; `columns` below 0: as many as rows.
sparse_array eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t k = 0, const build_kw& kw = {});
sparse_array identity(std::int64_t n, const build_kw& kw = {});
/// SciPy's name of eye for sparse arrays.
inline sparse_array eye_array(std::int64_t rows, std::int64_t columns = -1, std::int64_t k = 0,
                              const build_kw& kw = {}) {
  return eye(rows, columns, k, kw);
}
/// Diagonal d (one element for each place, or one for all) at offsets[d]. Without a shape the smallest square that holds
/// them. shape_error: another length; value_error: as many offsets as diagonals are needed, each once.
sparse_array diags(const std::vector<ndarray>& diagonals, const std::vector<std::int64_t>& offsets = {0},
                   const std::optional<shape_t>& shape = {}, const build_kw& kw = {});
inline sparse_array diags_array(const std::vector<ndarray>& diagonals, const std::vector<std::int64_t>& offsets = {0},
                                const std::optional<shape_t>& shape = {}, const build_kw& kw = {}) {
  return diags(diagonals, offsets, shape, kw);
}
/// Row d of `data` is diagonal offsets[d]: element j of it is in column j.
sparse_array spdiags(const ndarray& data, const std::vector<std::int64_t>& offsets, std::int64_t rows,
                     std::int64_t columns, const build_kw& kw = {});

/// Keywords of random_array. Elements are uniform in [0, 1) unless `data` draws them from the generator.
struct random_kw {
  kwonly _kw{};
  sparse::format format = sparse::format::csr;
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
  sinter::random::generator* rng = nullptr;  // the default generator
};
/// round(density * rows * columns) entries at places that are drawn without repetition. value_error: a density outside
/// of [0, 1].
sparse_array random_array(const shape_t& shape, double density = 0.01, const random_kw& kw = {});
inline sparse_array random(std::int64_t rows, std::int64_t columns, double density = 0.01, const random_kw& kw = {}) {
  return random_array({rows, columns}, density, kw);
}

/// Arrays side by side, one below the other. dtypes promote. csr arrays one below the other (csc side by side) are joined
/// part by part and give csr (csc); other combinations sort, as do other formats that are asked for. shape_error,
/// value_error: no arrays.
sparse_array vstack(const std::vector<sparse_array>& blocks, std::optional<format> f = {});
sparse_array hstack(const std::vector<sparse_array>& blocks, std::optional<format> f = {});
/// A matrix of blocks; an undefined array is a block of zeros. value_error: a row or column of none, blocks of rows of
/// different length; shape_error: extents that do not fit.
sparse_array block_array(const std::vector<std::vector<sparse_array>>& blocks, std::optional<format> f = {});
inline sparse_array bmat(const std::vector<std::vector<sparse_array>>& blocks, std::optional<format> f = {}) {
  return block_array(blocks, f);
}
sparse_array block_diag(const std::vector<sparse_array>& blocks, std::optional<format> f = {});
/// Each element of a times all of b.
sparse_array kron(const sparse_array& a, const sparse_array& b, std::optional<format> f = {});
/// kron(identity, a) + kron(b, identity) of square arrays. shape_error: not square.
sparse_array kronsum(const sparse_array& a, const sparse_array& b, std::optional<format> f = {});

/// The entries on and below (above) the k-th diagonal; in a's format unless another one is given.
sparse_array tril(const sparse_array& a, std::int64_t k = 0, std::optional<format> f = {});
sparse_array triu(const sparse_array& a, std::int64_t k = 0, std::optional<format> f = {});
struct find_result {
  ndarray row, col, data;
};
/// The elements that are not zero, entries of equal place added up, in C order.
find_result find(const sparse_array& a);

// ---- text and files

/// What SciPy 1.15 prints: a line about the array, then an entry a line, "  (0, 2)\t3.0", the first and last ones of many.
std::string to_string(const sparse_array& a);
std::ostream& operator<<(std::ostream& out, const sparse_array& a);

/// Evaluates the elements and the indices, in one flush.
void eval(const sparse_array& a);
/// Format, shape and entries, then the plan of eval(a): what is recorded for the elements.
std::string explain(const sparse_array& a, const explain_kw& kw = {});

/// SciPy's .npz files of csr, csc and coo arrays, as its save_npz writes them; ".npz" is added to a path that does not
/// end so. io_error.
void save_npz(const std::string& path, const sparse_array& a, bool compressed = true);
/// Such a file; one of a diagonal array (dia) gives csr. Parts are checked as those of the makers are. io_error, also for
/// another format.
sparse_array load_npz(const std::string& path, const array_kw& kw = {});

}  // namespace sparse
}  // namespace sinter::inline v0
