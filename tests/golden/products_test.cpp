// Products and einsum against NumPy 2: every dtype, mixtures, transposed, sliced and broadcast operands, empty extents.
#include <doctest/doctest.h>

#include "golden/golden.hpp"
#include "golden/layouts.hpp"
#include "support/products_library.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

using numbers = std::vector<std::int64_t>;

axes part_of(const numbers& n, std::int64_t from, std::int64_t to) {
  std::vector<int> list;
  for (auto k = from; k < to; ++k) list.push_back(static_cast<int>(n[static_cast<std::size_t>(k)]));
  return axes(list);
}

ndarray result_of(const std::string& name, const std::vector<ndarray>& x, const numbers& n) {
  const auto count = static_cast<std::int64_t>(n.size());
  if (name.rfind("einsum ", 0) == 0) return einsum(name.substr(7), x);
  if (name == "matmul") return matmul(x[0], x[1]);
  if (name == "dot") return dot(x[0], x[1]);
  if (name == "inner") return inner(x[0], x[1]);
  if (name == "outer") return outer(x[0], x[1]);
  if (name == "vdot") return vdot(x[0], x[1]);
  if (name == "vecdot") return vecdot(x[0], x[1], {.axis = static_cast<int>(n[0])});
  if (name == "matvec") return matvec(x[0], x[1]);
  if (name == "vecmat") return vecmat(x[0], x[1]);
  if (name == "kron") return kron(x[0], x[1]);
  if (name == "tensordot") return tensordot(x[0], x[1], static_cast<int>(n[0]));
  if (name == "tensordot axes") return tensordot(x[0], x[1], part_of(n, 1, 1 + n[0]), part_of(n, 1 + n[0], count));
  if (name == "multi_dot") return linalg::multi_dot(x);
  if (name == "matrix_power") return linalg::matrix_power(x[0], n[0]);
  throw io_error("no function is called " + name);
}

void check_file(const char* name) {
  if (no_products()) return;
  golden_file f(name);
  for (int i = 0; i < f.cases(); ++i) {
    const std::string function = f.text();
    std::vector<ndarray> operands;
    std::string what = function + " of";
    for (auto count = f.varint(); count > 0; --count) {
      static constexpr const char* layouts[] = {"", " transposed", " sliced", " broadcast"};
      const laid_out_array in = read_laid_out(f);
      operands.push_back(in.array);
      what += " " + std::string(sinter::name(in.array.dtype())) + to_string(in.array.shape()) +
              layouts[static_cast<int>(in.how)];
    }
    const numbers n = f.dims();
    const policy p = f.tolerance();
    const host_array expected = f.array();
    if (!this_shard().takes(i / 40)) continue;
    const std::string wrong = difference(download(result_of(function, operands, n)), expected, p);
    CHECK_MESSAGE(wrong.empty(), what, ": ", wrong);
  }
  CHECK(f.at_end());
}

}  // namespace

TEST_CASE("products give NumPy's dtypes, shapes and values in every layout" * doctest::test_suite(sharded_suite)) {
  check_file("products.bin");
}

TEST_CASE("einsum gives NumPy's dtypes, shapes and values in every layout" * doctest::test_suite(sharded_suite)) {
  check_file("einsum.bin");
}
