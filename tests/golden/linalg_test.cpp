// Linear algebra against NumPy and SciPy where results are unique: every dtype, stacked, broadcast and empty operands.
#include "golden/golden.hpp"
#include "support/linalg_checks.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

using numbers = std::vector<std::int64_t>;

linalg::norm_order order_of(const std::string& text) {
  if (text == "none" || text.empty()) return {};
  if (text == "fro") return "fro";
  if (text == "nuc") return "nuc";
  return std::stod(text);  // "inf" and "-inf" among them
}

axes axes_from(const numbers& n, std::size_t first) {
  std::vector<int> list;
  for (std::size_t k = first; k < n.size(); ++k) list.push_back(static_cast<int>(n[k]));
  return first < n.size() ? axes(list) : axes();
}

std::vector<ndarray> results_of(const std::string& name, const std::string& order, const numbers& n,
                                const std::vector<ndarray>& x) {
  const auto number = [&](std::size_t k) { return static_cast<int>(n.at(k)); };
  if (name == "inv") return {linalg::inv(x[0])};
  if (name == "det") return {linalg::det(x[0])};
  if (name == "slogdet") {
    const auto [sign, logabsdet] = linalg::slogdet(x[0]);
    return {sign, logabsdet};
  }
  if (name == "solve") return {linalg::solve(x[0], x[1])};
  if (name == "solve_triangular")
    return {linalg::solve_triangular(x[0], x[1], {.lower = n[0] != 0, .trans = number(1), .unit_diagonal = n[2] != 0})};
  if (name == "lu_solve") return {linalg::lu_solve(linalg::lu_factor(x[0]), x[1], {.trans = number(0)})};
  if (name == "cholesky") return {linalg::cholesky(x[0], {.upper = n[0] != 0})};
  if (name == "eigvalsh") return {linalg::eigvalsh(x[0])};
  if (name == "svdvals") return {linalg::svdvals(x[0])};
  if (name == "lstsq") {
    const auto [solution, residuals, rank, s] = linalg::lstsq(x[0], x[1]);
    return {solution, residuals, array(rank), s};
  }
  if (name == "pinv") return {linalg::pinv(x[0], {.rcond = 1e-3})};
  if (name == "matrix_rank") return {linalg::matrix_rank(x[0])};
  if (name == "norm")
    return {linalg::norm(x[0], {.ord = order_of(order), .axis = axes_from(n, 1), .keepdims = n[0] != 0})};
  if (name == "matrix_norm") return {linalg::matrix_norm(x[0], {.keepdims = n[0] != 0, .ord = order_of(order)})};
  if (name == "vector_norm")
    return {linalg::vector_norm(x[0], {.axis = axes_from(n, 1), .keepdims = n[0] != 0, .ord = order_of(order)})};
  if (name == "cond") return {linalg::cond(x[0], order_of(order))};
  if (name == "diagonal") return {linalg::diagonal(x[0], {.offset = n[0]})};
  if (name == "main diagonal") return {diagonal(x[0], n[0], number(1), number(2))};
  if (name == "trace") return {linalg::trace(x[0], {.offset = n[0]})};
  if (name == "cross") return {linalg::cross(x[0], x[1], {.axis = number(0)})};
  if (name == "tensorinv") return {linalg::tensorinv(x[0], number(0))};
  if (name == "tensorsolve") return {linalg::tensorsolve(x[0], x[1], {.axes = axes_from(n, 0)})};
  if (name == "expm") return {linalg::expm(x[0])};
  throw io_error("no function is called " + name);
}

std::string described(const std::string& name, const std::string& order, const numbers& n,
                      const std::vector<ndarray>& operands) {
  std::string text = name + " ord " + order + " numbers " + show_shape(n) + " of";
  for (const ndarray& x : operands) text += " " + std::string(sinter::name(x.dtype())) + to_string(x.shape());
  return text;
}

}  // namespace

TEST_CASE("linear algebra gives NumPy's dtypes, shapes and values" * doctest::test_suite(sharded_suite)) {
  if (no_solvers()) return;
  golden_file f("linalg.bin");
  const sample part(2);
  for (int i = 0; i < f.cases(); ++i) {
    const std::string name = f.text(), order = f.text();
    const numbers n = f.dims();
    std::vector<host_array> given;
    for (auto count = f.varint(); count > 0; --count) given.push_back(f.array());
    std::vector<std::pair<policy, host_array>> expected;
    for (auto count = f.varint(); count > 0; --count) {
      const policy p = f.tolerance();
      expected.emplace_back(p, f.array());
    }
    if (!part.takes(i / 40) || !this_shard().takes(part.place(i / 40))) continue;
    std::vector<ndarray> operands;
    for (const host_array& a : given) operands.push_back(upload(a));
    const std::string what = described(name, order, n, operands);
    const std::vector<ndarray> got = results_of(name, order, n, operands);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const std::string wrong = difference(download(got[k]), expected[k].second, expected[k].first);
      CHECK_MESSAGE(wrong.empty(), what, ", result ", k, ": ", wrong);
    }
  }
  CHECK(f.at_end());
}
