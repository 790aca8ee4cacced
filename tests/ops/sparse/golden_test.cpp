// Sparse arrays against SciPy: formats, products, slices, joins, reductions, of every format and of parts in no order.
#include "sinter/sparse.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "golden/golden.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;
using sparse::sparse_array;

sparse_array read_sparse(golden_file& f) {
  const std::string format = f.text();
  const std::vector<std::int64_t> extents = f.dims();
  const shape_t shape(extents);
  const ndarray data = upload(f.array()), first = upload(f.array()), second = upload(f.array());
  const sparse::array_kw kw{.index_dtype = f.u8() != 0 ? std::optional(int64) : std::nullopt};
  if (format == "csr") return sparse::csr_array(data, second, first, shape, kw);
  if (format == "csc") return sparse::csc_array(data, second, first, shape, kw);
  return sparse::coo_array(data, first, second, shape, kw);
}

struct sparse_case {
  std::string name;
  sparse_array a, b;
  ndarray x;
  std::vector<std::int64_t> k;
};
struct sparse_result {
  sparse_array sparse;
  ndarray dense;
  sparse_result(sparse_array s) : sparse(std::move(s)) {}
  sparse_result(ndarray d) : dense(std::move(d)) {}
};

optional_axis axis_of(const sparse_case& c) { return c.k.empty() ? optional_axis(_) : optional_axis(c.k[0]); }

slice slice_at(const std::vector<std::int64_t>& k, std::size_t from) {
  const auto bound_of = [&](std::size_t i) { return k[i] == std::int64_t{1} << 40 ? bound(_) : bound(k[i]); };
  return slice(bound_of(from), bound_of(from + 1), bound_of(from + 2));
}

sparse_array changed(sparse_array a, void (*f)(sparse_array&)) {
  f(a);
  return a;
}

std::optional<sparse_result> of_one(const sparse_case& c) {
  const sparse_array& a = c.a;
  if (c.name.starts_with("to ")) return a.asformat(std::string_view(c.name).substr(3));
  if (c.name == "toarray") return a.toarray();
  if (c.name == "transpose") return a.T();
  if (c.name == "sum_duplicates") return changed(a, [](sparse_array& s) { s.sum_duplicates(); });
  if (c.name == "eliminate_zeros") return changed(a, [](sparse_array& s) { s.eliminate_zeros(); });
  if (c.name == "negative") return -a;
  if (c.name == "double") return a * 2;
  if (c.name == "abs") return abs(a);
  if (c.name == "astype complex128") return a.astype(complex128);
  if (c.name == "astype int16") return a.astype(int16);
  if (c.name == "sum") return a.sum(axis_of(c));
  if (c.name == "mean") return a.mean(axis_of(c));
  if (c.name == "min") return a.min(axis_of(c));
  if (c.name == "max") return a.max(axis_of(c));
  if (c.name == "argmin") return a.argmin(axis_of(c));
  if (c.name == "argmax") return a.argmax(axis_of(c));
  if (c.name == "count_nonzero") return a.count_nonzero(axis_of(c));
  if (c.name == "norm") return norm(a);
  if (c.name == "norm 1") return norm(a, "1");
  if (c.name == "norm inf") return norm(a, "inf");
  if (c.name == "diagonal") return a.diagonal(c.k[0]);
  if (c.name == "tril") return tril(a, c.k[0]);
  if (c.name == "triu") return triu(a, c.k[0]);
  if (c.name == "slice") return a(slice_at(c.k, 0), slice_at(c.k, 3));
  if (c.name == "element") return a.at(c.k[0], c.k[1]);
  return {};
}

std::optional<sparse_result> with_dense(const sparse_case& c) {
  const sparse_array& a = c.a;
  const std::int64_t n = a.shape(1);
  if (c.name == "matvec" || c.name == "matmat") return matmul(a, c.x);
  if (c.name == "vecmat") return matmul(c.x, a);
  if (c.name == "matmat left") return matmul(c.x.T(), a);
  if (c.name == "rmatvec" || c.name == "rmatmat") return matmul(a.T(), c.x);
  if (c.name == "matvec scaled") return a.dot(c.x(slice(n)), {.alpha = 2, .beta = 3, .y = c.x(slice(n, _))});
  if (c.name.starts_with("multiply ")) return a * c.x;
  if (c.name == "add dense") return a + c.x;
  if (c.name == "setdiag") {
    sparse_array s = a;
    s.setdiag(c.x, c.k[0]);
    return s;
  }
  if (c.name == "rows") return a(c.x);
  if (c.name == "columns") return a(_, c.x);
  if (c.name == "points") return a.at(c.x(0), c.x(1));
  return {};
}

std::optional<sparse_result> of_two(const sparse_case& c) {
  const sparse_array &a = c.a, &b = c.b;
  if (c.name == "add") return a + b;
  if (c.name == "subtract") return a - b;
  if (c.name == "multiply") return a * b;
  if (c.name == "maximum") return maximum(a, b);
  if (c.name == "minimum") return minimum(a, b);
  if (c.name == "less") return a < b;
  if (c.name == "greater") return a > b;
  if (c.name == "not_equal") return a != b;
  if (c.name == "matmul") return matmul(a, b);
  if (c.name == "kron") return sparse::kron(a, b);
  if (c.name == "vstack") return sparse::vstack({a, b});
  if (c.name == "hstack") return sparse::hstack({a, b});
  if (c.name == "block_diag") return sparse::block_diag({a, b});
  if (c.name == "block_array") return sparse::block_array({{a, {}}, {{}, b}});
  return {};
}

sparse_result result_of(const sparse_case& c) {
  if (const auto r = c.b.defined() ? of_two(c) : c.x.defined() ? with_dense(c) : of_one(c)) return *r;
  throw io_error("no function is called " + c.name);
}

/// What is said of an array's parts is so: a canonical array's entries ascend.
void check_parts(const sparse_array& a) {
  if (a.format() == sparse::format::coo || !a.has_canonical_format()) return;
  const auto ends = a.indptr().to_vector<std::int64_t>(), at = a.indices().to_vector<std::int64_t>();
  REQUIRE(ends.back() == a.nnz());
  for (std::size_t r = 0; r + 1 < ends.size(); ++r) {
    REQUIRE(ends[r] <= ends[r + 1]);
    for (auto k = static_cast<std::size_t>(ends[r]) + 1; k < static_cast<std::size_t>(ends[r + 1]); ++k)
      REQUIRE(at[k - 1] < at[k]);
  }
}

}  // namespace

TEST_CASE("sparse arrays give what SciPy does" * doctest::test_suite(sharded_suite)) {
  golden_file f("sparse.bin");
  for (int i = 0; i < f.cases(); ++i) {
    sparse_case c;
    c.name = f.text();
    const bool mine = this_shard().takes(i / 40);
    c.a = read_sparse(f);
    if (f.u8() != 0) c.b = read_sparse(f);
    if (f.u8() != 0) c.x = upload(f.array());
    c.k = f.dims();
    const policy p = f.tolerance();
    const bool is_sparse = f.u8() != 0;
    const std::int64_t nnz = is_sparse ? f.varint() : -1;
    const host_array expected = f.array();
    if (!mine) continue;
    CAPTURE(i);
    CAPTURE(c.name);
    CAPTURE(to_string(c.a));
    const sparse_result r = result_of(c);
    CHECK(r.sparse.defined() == is_sparse);
    if (is_sparse) check_parts(r.sparse);
    if (is_sparse && nnz >= 0) CHECK(r.sparse.nnz() == nnz);
    const std::string wrong = difference(download(is_sparse ? r.sparse.toarray() : r.dense), expected, p);
    CHECK_MESSAGE(wrong.empty(), c.name, ": ", wrong);
  }
  CHECK(f.at_end());
}
