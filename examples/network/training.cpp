#include "network/training.hpp"

#include <cmath>
#include <numbers>

namespace network {

data_set two_spirals(std::int64_t count, double noise, sn::random::generator& g) {
  const ndarray label = (sn::arange(count) % 2).astype(sn::float64);
  const ndarray turn = sn::sqrt(g.random({count})) * (3 * std::numbers::pi), at = turn + std::numbers::pi * label;
  const ndarray points = sn::stack({turn * sn::cos(at), turn * sn::sin(at)}, 1) / (3 * std::numbers::pi);
  data_set d{points + g.normal(0, noise, {count, 2}), label};
  sn::eval(d.points, d.labels);
  return d;
}

layers random_layers(std::int64_t hidden, sn::random::generator& g) {
  layers n{g.normal(0, 4, {2, hidden}), g.normal(0, 2, {hidden}),
           g.normal(0, 1 / std::sqrt(static_cast<double>(hidden)), {hidden}), sn::zeros({})};
  sn::eval(n.inner, n.inner_bias, n.outer);
  return n;
}

ndarray logits(const line& l, const ndarray& points) { return sn::matmul(points, l.weights) + l.bias; }

ndarray logits(const layers& n, const ndarray& points) {
  return sn::matmul(sn::tanh(sn::matmul(points, n.inner) + n.inner_bias), n.outer) + n.bias;
}

}  // namespace network
