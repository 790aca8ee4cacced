// Rules of einsum: what it costs, the order of contraction, views, errors. Values are in golden/products_test.cpp.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"
#include "support/message_of.hpp"
#include "support/products_library.hpp"

namespace {

using sinter::test::whole;
using sinter_test::message_of;
using namespace sinter;
using namespace sinter::idx;
using sinter::test::no_products;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

runtime::backend& current() {
  const device d = default_device();
  return runtime::get_backend(
      {d.kind == device_kind::cuda ? runtime::device_kind::cuda : runtime::device_kind::cpu, d.index});
}

bool same(const ndarray& x, const ndarray& y) {
  return x.shape() == y.shape() && bool(all(x.astype(float64) == y.astype(float64)));
}

}  // namespace

TEST_CASE("indices of one operand are summed first: one pass over each matrix, two kernels, no matrix product") {
  const ndarray a = whole({100, 50}, float32), b = whole({50, 70}, float32, 1);
  const auto before = current().statistics();
  const ndarray c = einsum("ij,jk->k", a, b);
  CHECK(current().statistics().launches == before.launches);  // recorded
  eval(c);
  CHECK(current().statistics().launches - before.launches == 2);
  CHECK(same(c, sum(matmul(a.astype(int64), b.astype(int64)), 0)));
  CHECK(einsum_path("ij,jk->k", {a, b}).text.find("matrix product") == std::string::npos);
}

TEST_CASE("products of several operands and their sum are one kernel") {
  const ndarray x = whole({500}, float64), y = whole({500}, float64, 1), z = whole({500}, float64, 2);
  const auto before = current().statistics().launches;
  const ndarray c = einsum("i,i,i->", std::vector<ndarray>{x, y, z});
  eval(c);
  CHECK(current().statistics().launches - before == 1);
  CHECK(same(c, sum(x * y * z)));
  const auto then = current().statistics().launches;
  eval(einsum("bi,bi->b", reshape(x, {5, 100}), reshape(y, {5, 100})) + 1);
  CHECK(current().statistics().launches - then == 1);
}

TEST_CASE("contractions with free indices on both sides are matrix products of views, without copies") {
  if (no_products()) return;
  const ndarray a = whole({3, 6, 8}, float64), b = whole({3, 8, 5}, float64, 1), c = whole({8, 6}, float64, 2);
  matmul(c, c.T());
  const auto costs_one = [](const char* subscripts, const ndarray& x, const ndarray& y) {
    const auto before = current().statistics().allocations;
    const ndarray z = einsum(subscripts, x, y);
    eval(z);
    CHECK(current().statistics().allocations - before == 1);
    CHECK(same(z, einsum(subscripts, x.astype(int64), y.astype(int64))));
  };
  costs_one("bij,bjk->bik", a, b);
  costs_one("bij,bjk->kib", a, b);
  costs_one("bij,jk->bik", a, c);
  costs_one("bij,kbj->ik", a.copy()(0, _, _)(newaxis), whole({7, 1, 8}, float64, 3));
  costs_one("ibj,kbj->ik", whole({6, 3, 8}, float64, 2), whole({7, 3, 8}, float64, 3));  // summed over two axes as one
  costs_one("ibj,bjk->ik", whole({6, 3, 8}, float64, 2), b);
  costs_one("ji,jk->ik", c, b(0));
}

TEST_CASE("a product that is summed with another operand lies in memory as that one does") {
  if (no_products()) return;
  const ndarray x = whole({4000, 16}, float64), m = whole({16, 16}, float64, 1), y = whole({4000, 16}, float64, 2);
  const ndarray forms = einsum("bi,ij,bj->b", std::vector<ndarray>{x, m, y});
  const std::string plan = explain(forms);
  if (zeros(1).device() == device("cpu")) CHECK_MESSAGE(plan.find("copied by stride") == std::string::npos, plan);
  CHECK_MESSAGE(!holds(plan, "reads  (16, 4000)"), plan);
  CHECK(same(forms, sum(matmul(x, m) * y, 1)));
  CHECK(same(einsum("bi,ij,bj->b", std::vector<ndarray>{x, m, transpose(transpose(y).copy())}), forms));
}

TEST_CASE("every order of contraction gives the same numbers") {
  if (no_products()) return;
  const std::vector<ndarray> chain{whole({4, 30}, float64), whole({30, 3}, float64, 1), whole({3, 50}, float64, 2),
                                   whole({50, 2}, float64, 3), whole({2, 6}, float64, 4)};
  const char* subscripts = "ab,bc,cd,de,ef->fa";
  const ndarray expected = einsum(subscripts, chain, {.optimize = "none"});
  CHECK(expected.shape() == shape_t{6, 4});
  for (const char* word : {"auto", "greedy", "optimal"})
    CHECK(same(einsum(subscripts, chain, {.optimize = word}), expected));
  const auto plan = einsum_path(subscripts, chain, {.optimize = "optimal"});
  CHECK(plan.path.size() == 4);
  CHECK(same(einsum(subscripts, chain, {.path = plan.path}), expected));
  CHECK(same(einsum(subscripts, chain, {.path = {{0, 1, 2, 3, 4}}}), expected));  // all in one step
  CHECK(same(einsum(subscripts, chain, {.path = {{1, 2}, {0}}}), expected));      // the rest as it comes
  CHECK(same(einsum(subscripts, chain, {.dtype = float32}), expected));
}

TEST_CASE("the optimal order is the one of fewest multiplications") {
  // (A B) C takes 10*1000*10 + 10*10*1000 = 2e5, A (B C) takes 1000*10*1000 + 10*1000*1000 = 2e7.
  const std::vector<ndarray> chain{zeros({10, 1000}), zeros({1000, 10}), zeros({10, 1000})};
  CHECK(einsum_path("ij,jk,kl->il", chain).path == contraction_path{{0, 1}, {0, 1}});
  const std::vector<ndarray> other{zeros({1000, 10}), zeros({10, 1000}), zeros({1000, 10})};
  CHECK(einsum_path("ij,jk,kl->il", other).path == contraction_path{{1, 2}, {0, 1}});
  CHECK(einsum_path("ij,jk,kl->il", other, {.optimize = "greedy"}).path == contraction_path{{1, 2}, {0, 1}});
  CHECK(einsum_path("ij,jk,kl->il", other, {.optimize = "none"}).path == contraction_path{{0, 1}, {0, 1}});
  CHECK(einsum_path("i->i", {zeros({3})}).path.empty());
  const std::vector<ndarray> many(13, zeros({2, 2}));
  CHECK(einsum_path("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn->an", many).path.size() == 12);
  CHECK_THROWS_AS(einsum_path("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn->an", many, {.optimize = "optimal"}),
                  value_error);
}

TEST_CASE("the plan says what each step becomes") {
  const ndarray a = zeros({100, 50}), b = zeros({50, 70}), c = zeros({70, 30});
  const auto before = current().statistics().launches;
  std::ostringstream text;
  text << einsum_path("ij,jk->k", {a, b}) << einsum_path("ij, jk, kl -> il", {a, b, c})
       << einsum_path("i,j->ij", {zeros({3}), zeros({4})});
  CHECK(current().statistics().launches == before);
  CHECK(holds(text.str(), "Complete contraction:  ij,jk->k\n"));
  CHECK(holds(text.str(), "Complete contraction:  ij,jk,kl->il\n"));
  CHECK(holds(text.str(), "Naive scaling:  3\n     Optimized scaling:  2\n"));
  CHECK(holds(text.str(), "sum, recorded              ij->j                        j,jk->k\n"));
  CHECK(holds(text.str(), "sum of products, recorded  j,jk->k                      k->k\n"));
  CHECK(holds(text.str(), "matrix product "));
  CHECK(holds(text.str(), "product, recorded          i,j->ij "));
}

TEST_CASE("one operand whose indices are kept gives a view of it") {
  ndarray x = whole({4, 4}, float64);
  ndarray diagonal = einsum("ii->i", x), transposed = einsum("ji", x);
  diagonal += 10;
  CHECK(x(2, 2).item<double>() == diagonal(2).item<double>());
  CHECK(x(2, 2).item<double>() >= 7);
  transposed(0, 3) = 55;
  CHECK(x(3, 0).item<double>() == 55);
}

TEST_CASE("einsum follows the dtype keyword and writes where out says") {
  const ndarray x = whole({3, 4}, int32), y = whole({4}, int32, 1), to = zeros({3});
  CHECK(einsum("ij,j", x, y).dtype() == int32);
  CHECK(einsum("ij,j", x, y, {.dtype = float32}).dtype() == float32);
  const ndarray back = einsum("ij,j", x, y, {.out = to});
  CHECK(same(to, sum(x * y, 1)));
  CHECK(same(back, to));
  CHECK_THROWS_AS(einsum("ij,j", x, y, {.out = zeros({4})}), shape_error);
  CHECK_THROWS_AS(einsum("ij,j", x.astype(float64), y, {.dtype = int64}), dtype_error);
}

TEST_CASE("float16 is summed in float32 through all steps, and rounded once") {
  const ndarray x = full({64, 64}, 16, {.dtype = float16});
  // The inner sums are 64 * 64 * 16 * 16 = 2^20, which float16 does not hold.
  CHECK(einsum("ij,ij->", x, x / 1024).item<double>() == 1024);
  // The sum of x alone is 65536, beyond float16; that of x / 2^17 is 0.5.
  const ndarray sums = einsum("ij,kl->", x, x / 1024 / 128);
  CHECK(sums.dtype() == float16);
  CHECK(sums.item<double>() == 32768);
}

TEST_CASE("errors have NumPy's words") {
  const auto said = [](const char* subscripts, const std::vector<ndarray>& operands) {
    return message_of<error>([&] { einsum(subscripts, operands); });
  };
  const ndarray m = zeros({2, 3}), v = zeros({3});
  CHECK(holds(said("ijk", {m}), "[einsum] einstein sum subscripts string contains too many subscripts for operand 0"));
  CHECK(holds(said("i", {m}), "operand 0 has more dimensions than subscripts given in einstein sum, but no '...'"));
  CHECK(holds(said("ij", {m, v}), "more operands provided to einstein sum function than specified"));
  CHECK(holds(said("ij,j", {m}), "fewer operands provided to einstein sum function than specified"));
  CHECK(holds(said("ij->iz", {m}), "included output subscript 'z' which never appeared in an input"));
  CHECK(holds(said("ij->ii", {m}), "includes output subscript 'i' multiple times"));
  CHECK(holds(said("i1", {m}), "invalid subscript '1' in einstein sum subscripts string, subscripts must be letters"));
  CHECK(holds(said("i.j", {m}), "contains a '.' that is not part of an ellipsis"));
  CHECK(holds(said("......", {m}), "contains a '.' that is not part of an ellipsis"));
  CHECK(holds(said("...j->j", {m}), "output has more dimensions than subscripts given in einstein sum"));
  CHECK(holds(said("ii", {m}), "dimensions in operand 0 for collapsing index 'i' don't match (2 != 3)"));
  CHECK(holds(said("ij,ij", {m, zeros({2, 4})}),
              "operands could not be broadcast together: index 'j' has extent 3, but 4"));
  CHECK_THROWS_AS(einsum("ij,ij", m, zeros({2, 4})), shape_error);
  CHECK_THROWS_AS(einsum("ii", m), shape_error);
  CHECK_THROWS_AS(einsum("i1", m), value_error);
  CHECK_THROWS_AS(einsum("", std::vector<ndarray>()), value_error);
  CHECK_THROWS_AS(einsum("ij", m, {.optimize = "fastest"}), value_error);
  CHECK_THROWS_AS(einsum("ij,j", m, v, {.path = {{0, 2}}}), value_error);
  CHECK_THROWS_AS(einsum("ij,j", m, v, {.path = {{0, 0}}}), value_error);
}
