// Logistic regression and a network of two layers, trained by Adam.
#pragma once
#include <functional>
#include <sinter/grad.hpp>
#include <sinter/sinter.hpp>
#include <vector>

namespace network {

namespace sn = sinter;
using sn::ndarray;

/// Points (N, 2) of two spirals, and which one each is of: labels (N,), 0 or 1.
struct data_set {
  ndarray points, labels;
};
data_set two_spirals(std::int64_t count, double noise, sn::random::generator& g);

/// Parameters of a logistic regression: weights (2,), a bias ().
struct line {
  ndarray weights, bias;
};
template <class Visit>
void arrays_of(line& l, Visit visit) {
  visit(l.weights, l.bias);
}

/// Parameters of two layers: (2, H), (H,), (H,), ().
struct layers {
  ndarray inner, inner_bias, outer, bias;
};
template <class Visit>
void arrays_of(layers& n, Visit visit) {
  visit(n.inner, n.inner_bias, n.outer, n.bias);
}
layers random_layers(std::int64_t hidden, sn::random::generator& g);

/// Logits (N,) of points: positive for label 1.
ndarray logits(const line& l, const ndarray& points);
ndarray logits(const layers& n, const ndarray& points);

/// The mean cross-entropy.
template <class Model>
ndarray loss(const Model& m, const ndarray& points, const ndarray& labels) {
  const ndarray z = logits(m, points);
  return sn::mean(sn::logaddexp(0, z) - labels * z);
}
/// The share of points whose label is the likelier one.
template <class Model>
double accuracy(const Model& m, const data_set& d) {
  return sn::mean((logits(m, d.points) > 0) == (d.labels > 0)).template item<double>();
}

template <class Model>
std::vector<ndarray*> arrays(Model& m) {
  std::vector<ndarray*> all;
  arrays_of(m, [&](auto&... members) { (all.push_back(&members), ...); });
  return all;
}

/// Adam, of Kingma and Ba (2015), for the arrays of a model.
template <class Model>
class adam {
 public:
  adam(const Model& like, double rate) : mean_(like), square_(like), rate_(rate) {
    for (Model* const m : {&mean_, &square_})
      for (ndarray* const x : arrays(*m)) *x = sn::zeros_like(*x);
  }

  void step(Model& m, Model slope) {
    one_ *= 0.9, two_ *= 0.999;
    const auto x = arrays(m), g = arrays(slope), first = arrays(mean_), second = arrays(square_);
    for (std::size_t k = 0; k < x.size(); ++k) {
      *first[k] = 0.9 * *first[k] + 0.1 * *g[k];
      *second[k] = 0.999 * *second[k] + 0.001 * sn::square(*g[k]);
      *x[k] = *x[k] - rate_ / (1 - one_) * *first[k] / (sn::sqrt(*second[k] / (1 - two_)) + 1e-8);
      sn::eval(*first[k], *second[k], *x[k]);
    }
  }

 private:
  Model mean_, square_;
  double rate_, one_ = 1, two_ = 1;
};

/// Trains by minibatches in an order of their own each time through the data. The mean loss of each time through.
template <class Model>
std::vector<double> train(Model& m, const data_set& d, std::int64_t batch, std::int64_t epochs, double rate,
                          sn::random::generator& g) {
  using sn::idx::_, sn::idx::slice;
  adam<Model> by(m, rate);
  const auto value_and_slope =
      sn::value_and_grad([](const Model& at, const ndarray& x, const ndarray& y) { return loss(at, x, y); });
  std::vector<double> curve;
  const std::int64_t n = d.labels.size();
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const ndarray order = g.permutation(n), x = d.points(order), y = d.labels(order);
    ndarray sum = sn::array(0.0);
    std::int64_t batches = 0;
    for (std::int64_t at = 0; at + batch <= n; at += batch, ++batches) {
      const auto [value, slope] = value_and_slope(m, x(slice(at, at + batch), _), y(slice(at, at + batch)));
      by.step(m, slope);
      sum = sum + value;
    }
    curve.push_back(sum.item<double>() / static_cast<double>(batches));
  }
  return curve;
}

}  // namespace network
