// Each stop compares its result with the same sums computed another way in float64.
#include "linalg_tour/stops.hpp"

#include <memory>

namespace linalg_tour {
namespace {

/// Numbers in [-0.5, 0.5) that repeat late.
ndarray numbers(std::int64_t rows, std::int64_t columns, sn::dtype type, int seed) {
  const ndarray i = sn::arange(rows * columns, {.dtype = sn::int64}) + seed * 7919;
  ndarray x = sn::reshape(((i * 48271 % 65521).astype(type) / 65521 - 0.5), {rows, columns});
  sn::eval(x);
  return x;
}

std::string title(const char* what, const std::vector<std::int64_t>& sizes, sn::dtype type) {
  std::string out = what;
  for (std::size_t k = 0; k < sizes.size(); ++k) out += (k == 0 ? ", " : " x ") + std::to_string(sizes[k]);
  return out + ", " + std::string(sn::name(type));
}

std::function<void()> bare_product_of(const ndarray& a, const ndarray& b) {
  // The vendor gets separate matrices: an exported address would make the library copy before each use.
  const ndarray c = sn::zeros({a.shape(0), b.shape(1)}, a.dtype());
  std::shared_ptr<bare_product> product = make_bare_product(a.copy(), b.copy(), c);
  if (!product) return {};
  return [product] { product->run(); };
}

/// How far the result is from `exact`, beside what as many roundings of magnitudes may add up to.
examples::verdict compare(const ndarray& result, const ndarray& exact, const ndarray& magnitude) {
  const double epsilon = result.dtype() == sn::float32 ? 0x1p-23 : 0x1p-52;
  const ndarray error = sn::abs(result.astype(sn::float64) - exact);
  return {sn::max(error / magnitude).item<double>(), 64 * epsilon};
}

examples::verdict check_column_sums(const ndarray& result, const ndarray& a, const ndarray& b) {
  const ndarray x = a.astype(sn::float64), y = b.astype(sn::float64);
  return compare(result, sn::matmul(sn::sum(x, 0), y), sn::matmul(sn::sum(sn::abs(x), 0), sn::abs(y)));
}

}  // namespace

stop product_and_sum(std::int64_t m, std::int64_t k, std::int64_t n, sn::dtype type) {
  const ndarray a = numbers(m, k, type, 1), b = numbers(k, n, type, 2);
  return {title("sum(matmul(a, b), 0)", {m, k, n}, type), [=] { return sn::sum(sn::matmul(a, b), 0); },
          bare_product_of(a, b), [=](const ndarray& c) { return check_column_sums(c, a, b); }};
}

stop summed_einsum(std::int64_t m, std::int64_t k, std::int64_t n) {
  const ndarray a = numbers(m, k, sn::float32, 1), b = numbers(k, n, sn::float32, 2);
  return {title("einsum(\"ij,jk->k\", a, b)", {m, k, n}, sn::float32),
          [=] { return sn::einsum("ij,jk->k", a, b); },
          {},
          [=](const ndarray& c) { return check_column_sums(c, a, b); }};
}

stop square_product(std::int64_t side, sn::dtype type) {
  const ndarray a = numbers(side, side, type, 3), b = numbers(side, side, type, 4);
  return {title("dot(a, b)", {side, side}, type), [=] { return sn::dot(a, b); }, bare_product_of(a, b),
          [=](const ndarray& c) {
            // The product's rows, added up with weights, are the weights' product with a, times b.
            const ndarray w = sn::arange(side).astype(sn::float64) / side, x = a.astype(sn::float64),
                          y = b.astype(sn::float64);
            const ndarray sums = sn::matmul(w, c.astype(sn::float64));
            return compare(sums.astype(type), sn::matmul(sn::matmul(w, x), y),
                           sn::matmul(sn::matmul(w, sn::abs(x)), sn::abs(y)));
          }};
}

}  // namespace linalg_tour
