#include "fuzz/sparse_machine.hpp"

#include <functional>
#include <map>

#include "sinter/sparse_functions.hpp"

namespace sinter::fuzz {
namespace {

using namespace sinter::idx;
using sparse::sparse_array;
using values = std::vector<sparse_value>;

/// An instruction's operands under short names.
struct operands {
  const sparse_instruction& i;
  const sparse_array& a;  // the first operand
  const sparse_array& b;  // the second one
  const ndarray& x;       // a dense one
  std::int64_t k(std::size_t at = 0) const { return i.numbers.at(at); }
  const ndarray& array(std::size_t at) const { return i.arrays.at(at); }
  shape_t shape() const { return {k(0), k(1)}; }
  optional_axis axis() const { return i.numbers.empty() ? optional_axis(_) : optional_axis(k()); }
  std::vector<sparse_array> all() const {
    std::vector<sparse_array> out;
    for (const sparse_value& v : i.operands) out.push_back(v.s);
    return out;
  }
};
using function = std::function<sparse_value(const operands&)>;
using table = std::map<std::string, function>;

slice part(const operands& o, std::size_t from) {
  const auto end = [&](std::size_t at) { return o.k(at) == std::int64_t{1} << 40 ? bound(_) : bound(o.k(at)); };
  return slice(end(from), end(from + 1), end(from + 2));
}
sparse_array changed(sparse_array a, const std::function<void(sparse_array&)>& f) {
  f(a);
  return a;
}
constexpr dtype targets[] = {dtype::b1, dtype::i8, dtype::u8, dtype::i32, dtype::i64, dtype::f32, dtype::f64};

/// 64-bit indices stay so.
sparse::array_kw kept_index(const ndarray& indices) {
  sparse::array_kw kw;
  if (indices.dtype() == int64) kw.index_dtype = int64;
  return kw;
}

const table of_parts{
    {"csr",
     [](const operands& o) {
       return sparse::csr_array(o.array(0), o.array(2), o.array(1), o.shape(), kept_index(o.array(2)));
     }},
    {"csc",
     [](const operands& o) {
       return sparse::csc_array(o.array(0), o.array(2), o.array(1), o.shape(), kept_index(o.array(2)));
     }},
    {"coo",
     [](const operands& o) {
       return sparse::coo_array(o.array(0), o.array(1), o.array(2), o.shape(), kept_index(o.array(2)));
     }},
    {"dense", [](const operands& o) { return o.array(0); }},
    {"csr of dense", [](const operands& o) { return sparse::csr_array(o.x); }},
    {"csc of dense", [](const operands& o) { return sparse::csc_array(o.x); }},
    {"coo of dense", [](const operands& o) { return sparse::coo_array(o.x); }},
    {"diags", [](const operands& o) { return sparse::diags({o.x}, {o.k()}); }},
};
const table of_one{
    {"to csr", [](const operands& o) { return o.a.tocsr(); }},
    {"to csc", [](const operands& o) { return o.a.tocsc(); }},
    {"to coo", [](const operands& o) { return o.a.tocoo(); }},
    {"transpose", [](const operands& o) { return o.a.T(); }},
    {"toarray", [](const operands& o) { return o.a.toarray(); }},
    {"copy", [](const operands& o) { return o.a.copy(); }},
    {"astype", [](const operands& o) { return o.a.astype(targets[o.k()]); }},
    {"to complex", [](const operands& o) { return o.a.astype(complex128); }},
    {"conj", [](const operands& o) { return o.a.conj(); }},
    {"real", [](const operands& o) { return o.a.real(); }},
    {"imag", [](const operands& o) { return o.a.imag(); }},
    {"negative", [](const operands& o) { return -o.a; }},
    {"abs", [](const operands& o) { return abs(o.a); }},
    {"sign", [](const operands& o) { return sign(o.a); }},
    {"floor", [](const operands& o) { return floor(o.a); }},
    {"ceil", [](const operands& o) { return ceil(o.a); }},
    {"rint", [](const operands& o) { return rint(o.a); }},
    {"trunc", [](const operands& o) { return trunc(o.a); }},
    {"sum_duplicates", [](const operands& o) { return changed(o.a, [](sparse_array& s) { s.sum_duplicates(); }); }},
    {"eliminate_zeros", [](const operands& o) { return changed(o.a, [](sparse_array& s) { s.eliminate_zeros(); }); }},
    {"sort_indices", [](const operands& o) { return o.a.sorted_indices(); }},
    {"tril", [](const operands& o) { return sparse::tril(o.a, o.k()); }},
    {"triu", [](const operands& o) { return sparse::triu(o.a, o.k()); }},
    {"reshape", [](const operands& o) { return o.a.reshape(o.shape()); }},
    {"resize", [](const operands& o) { return changed(o.a, [&](sparse_array& s) { s.resize(o.shape()); }); }},
    {"setdiag",
     [](const operands& o) {
       return changed(o.a, [&](sparse_array& s) {
         if (o.array(0).size() == 1) s.setdiag(o.array(0)(0).copy(), o.k());
         else s.setdiag(o.array(0), o.k());
       });
     }},
    {"slice", [](const operands& o) { return o.a(part(o, 0), part(o, 3)); }},
    {"rows", [](const operands& o) { return o.a(o.array(0)); }},
    {"columns", [](const operands& o) { return o.a(_, o.array(0)); }},
    {"rows and columns", [](const operands& o) { return o.a(o.array(0), o.array(1)); }},
    {"points", [](const operands& o) { return o.a.at(o.array(0), o.array(1)); }},
    {"element", [](const operands& o) { return o.a.at(o.k(0), o.k(1)); }},
    {"diagonal", [](const operands& o) { return o.a.diagonal(o.k()); }},
    {"matrix_power", [](const operands& o) { return sparse::linalg::matrix_power(o.a, o.k()); }},
    {"bandwidth",
     [](const operands& o) {
       const auto [below, above] = sparse::linalg::spbandwidth(o.a);
       return array({below, above});
     }},
};
const table with_number{
    {"times number", [](const operands& o) { return o.a * o.k(); }},
    {"times half", [](const operands& o) { return (static_cast<double>(o.k()) / 2) * o.a; }},
    {"over number", [](const operands& o) { return o.a / (std::int64_t{1} << o.k()); }},
    {"power", [](const operands& o) { return o.a.power(o.k()); }},
    {"above number", [](const operands& o) { return o.a > o.k(); }},
    {"other than number", [](const operands& o) { return o.a != o.k(); }},
    {"equal to number", [](const operands& o) { return o.a == o.k(); }},
    {"at least number", [](const operands& o) { return o.a >= o.k(); }},
};
const table reductions{
    {"sum", [](const operands& o) { return o.a.sum(o.axis()); }},
    {"mean", [](const operands& o) { return o.a.mean(o.axis()); }},
    {"min", [](const operands& o) { return o.a.min(o.axis()); }},
    {"max", [](const operands& o) { return o.a.max(o.axis()); }},
    {"nanmin", [](const operands& o) { return o.a.nanmin(o.axis()); }},
    {"nanmax", [](const operands& o) { return o.a.nanmax(o.axis()); }},
    {"argmin", [](const operands& o) { return o.a.argmin(o.axis()); }},
    {"argmax", [](const operands& o) { return o.a.argmax(o.axis()); }},
    {"count nonzero", [](const operands& o) { return o.a.count_nonzero(o.axis()); }},
    {"norm", [](const operands& o) { return sparse::norm(o.a); }},
    {"norm 1", [](const operands& o) { return sparse::norm(o.a, "1"); }},
    {"norm of rows", [](const operands& o) { return sparse::norm(o.a, 1); }},
    {"trace", [](const operands& o) { return o.a.trace(o.k()); }},
};
const table of_two{
    {"add", [](const operands& o) { return o.a + o.b; }},
    {"subtract", [](const operands& o) { return o.a - o.b; }},
    {"multiply", [](const operands& o) { return o.a * o.b; }},
    {"maximum", [](const operands& o) { return maximum(o.a, o.b); }},
    {"minimum", [](const operands& o) { return minimum(o.a, o.b); }},
    {"not equal", [](const operands& o) { return o.a != o.b; }},
    {"less", [](const operands& o) { return o.a < o.b; }},
    {"greater", [](const operands& o) { return o.a > o.b; }},
    {"equal", [](const operands& o) { return o.a == o.b; }},
    {"at most", [](const operands& o) { return o.a <= o.b; }},
    {"at least", [](const operands& o) { return o.a >= o.b; }},
    {"product", [](const operands& o) { return matmul(o.a, o.b); }},
    {"kron", [](const operands& o) { return sparse::kron(o.a, o.b); }},
    {"kronsum", [](const operands& o) { return sparse::kronsum(o.a, o.b); }},
    {"vstack", [](const operands& o) { return sparse::vstack(o.all()); }},
    {"hstack", [](const operands& o) { return sparse::hstack(o.all()); }},
    {"block_diag", [](const operands& o) { return sparse::block_diag(o.all()); }},
    {"block_array",
     [](const operands& o) {
       const std::vector<sparse_array> all = o.all();
       return sparse::block_array({{all[0], all[1]}, {all[2], sparse_array()}});
     }},
};
const table with_dense{
    {"times dense", [](const operands& o) { return o.a * o.x; }},
    {"plus dense", [](const operands& o) { return o.a + o.x; }},
    {"minus dense", [](const operands& o) { return o.a - o.x; }},
    {"dense minus", [](const operands& o) { return o.x - o.a; }},
    {"above dense", [](const operands& o) { return o.a > o.x; }},
    {"equal to dense", [](const operands& o) { return o.x == o.a; }},
    {"times vector", [](const operands& o) { return o.a.dot(o.x); }},
    {"times matrix", [](const operands& o) { return matmul(o.a, o.x); }},
    {"vector times", [](const operands& o) { return matmul(o.x, o.a); }},
    {"matrix times", [](const operands& o) { return matmul(o.x, o.a); }},
    {"transposed times", [](const operands& o) { return o.a.T().dot(o.x); }},
    {"scaled product", [](const operands& o) { return 2 * o.a.dot(o.x) - o.a.dot(o.x + o.x); }},
};

}  // namespace

std::vector<sparse_value> execute(const sparse_instruction& i) {
  static const sparse_array no_sparse;
  static const ndarray no_dense;
  const auto sparse_at = [&](std::size_t k) -> const sparse_array& {
    return k < i.operands.size() && i.operands[k].s.defined() ? i.operands[k].s : no_sparse;
  };
  const ndarray* x = &no_dense;
  for (const sparse_value& v : i.operands)
    if (!v.s.defined()) x = &v.d;
  const operands o{i, sparse_at(0), sparse_at(1), *x};
  if (i.name == "find") {
    const sparse::find_result f = sparse::find(o.a);
    return {f.row, f.col, f.data};
  }
  for (const table* t : {&of_parts, &of_one, &with_number, &reductions, &of_two, &with_dense})
    if (const auto at = t->find(i.name); at != t->end()) return {at->second(o)};
  throw io_error("no instruction is called " + i.name);
}

}  // namespace sinter::fuzz
