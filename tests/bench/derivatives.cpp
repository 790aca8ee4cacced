// Times gradients, gradients of each example, and loops of small steps. derivative_peers.py prints the same rows for other
// libraries.
#include <sinter/grad.hpp>
#include <sinter/loops.hpp>
#include <sinter/special.hpp>
#include <sinter/vmap.hpp>

#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

struct network {
  ndarray w1, b1, w2, b2;
};
template <class Visit>
void arrays_of(network& n, Visit visit) {
  visit(n.w1);
  visit(n.b1);
  visit(n.w2);
  visit(n.b2);
}

namespace {

using namespace sn::idx;

std::vector<ndarray> list_of(const network& n) { return {n.w1, n.b1, n.w2, n.b2}; }

struct row_printer {
  std::string only;
  bool wanted(const std::string& name) const { return only.empty() || name.find(only) != std::string::npos; }
  template <class F>
  void operator()(const std::string& name, const F& work) const {
    if (wanted(name)) print_row(name, seconds_of_results(work));
  }
};

/// With the most device memory that the work takes beyond what is in use before.
template <class F>
void row_with_memory(const row_printer& row, const std::string& name, const F& work) {
  if (!row.wanted(name)) return;
  const sn::device d = sn::default_device();
  sn::memory_pool(d).trim();
  sn::memory_pool(d).reset_peak();
  const std::size_t before = sn::memory(d).used;
  row(name, work);
  std::printf("| %s, memory in MB | %.2f | |\n", name.c_str(), static_cast<double>(sn::memory(d).peak - before) / 1e6);
}

/// Of pairs with these squares of distances, in units of the potential's.
ndarray energy_of_squares(const ndarray& x, const ndarray& square) {
  const ndarray number = sn::arange(x.shape(1)), self = sn::equal(number(_, newaxis), number);
  const ndarray r2 = 1.0f / sn::where(self, 1.0f, square), r6 = r2 * r2 * r2;
  return 2.0f * sn::sum(sn::where(self, 0.0f, r6 * r6 - r6));
}

/// A coordinate at a time, and all at once: a sum over an axis of three.
ndarray pair_energy(const ndarray& x) {
  const auto apart = [&](int axis) { return x(axis, _, newaxis) - x(axis, newaxis, _); };
  return energy_of_squares(x, sn::square(apart(0)) + sn::square(apart(1)) + sn::square(apart(2)));
}
ndarray pair_energy_by_sum(const ndarray& x) {
  return energy_of_squares(x, sn::sum(sn::square(x(_, _, newaxis) - x(_, newaxis, _)), 0));
}

void energy_rows(const row_printer& row, bool gpu) {
  const std::int64_t n = gpu ? 16384 : 2048;
  const ndarray x = numbers({3, n}, 0, 30);
  const std::string of = "Lennard-Jones energy of " + std::to_string(n);
  row_with_memory(row, of, [&] { return pair_energy(x); });
  const auto force = sn::grad(pair_energy);
  row_with_memory(row, of + ", gradient", [&] { return force(x); });
  row_with_memory(row, of + ", by a sum over axes", [&] { return pair_energy_by_sum(x); });
  const auto force_by_sum = sn::grad(pair_energy_by_sum);
  row_with_memory(row, of + ", by a sum over axes, gradient", [&] { return force_by_sum(x); });
}

ndarray cross_entropy(const ndarray& scores, const ndarray& one_hot) {
  const ndarray top = scores - sn::max(scores, -1, {.keepdims = true});
  const ndarray log_sum = sn::log(sn::sum(sn::exp(top), -1, {.keepdims = true}));
  return -sn::sum((top - log_sum) * one_hot);
}

network make_network(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return {numbers({in, hidden}, -0.1, 0.1), numbers({hidden}, -0.1, 0.1), numbers({hidden, out}, -0.1, 0.1),
          numbers({out}, -0.1, 0.1)};
}
ndarray classes(std::int64_t n, std::int64_t many) {
  const ndarray which = sn::arange(n, {.dtype = sn::int64}) % many;
  ndarray one_hot = sn::equal(which(_, newaxis), sn::arange(many)).astype(sn::float32);
  sn::eval(one_hot);
  return one_hot;
}

void network_rows(const row_printer& row, bool gpu) {
  const std::int64_t batch = gpu ? 4096 : 512, width = gpu ? 1024 : 256;
  const ndarray x = numbers({batch, width}, -1, 1), y = classes(batch, 10);
  const auto loss = [](const network& n, const ndarray& x, const ndarray& y) {
    const ndarray hidden = sn::maximum(sn::matmul(x, n.w1) + n.b1, 0.0f);
    return cross_entropy(sn::matmul(hidden, n.w2) + n.b2, y) / static_cast<float>(x.shape(0));
  };
  const network n = make_network(width, width, 10);
  const auto both = sn::value_and_grad(loss);
  const std::string size =
      std::to_string(batch) + " x " + std::to_string(width) + " x " + std::to_string(width) + " x 10";
  row("value_and_grad of a network, " + size, [&] {
    const auto [value, g] = both(n, x, y);
    std::vector<ndarray> all = list_of(g);
    all.push_back(value);
    return all;
  });
  const std::int64_t examples = gpu ? 4096 : 256;
  const ndarray images = numbers({examples, 784}, 0, 1), labels = classes(examples, 10);
  const network small = make_network(784, 128, 10);
  const auto one = [](const network& n, const ndarray& x, const ndarray& y) {
    const ndarray hidden = sn::tanh(sn::matmul(x, n.w1) + n.b1);
    return cross_entropy(sn::matmul(hidden, n.w2) + n.b2, y);
  };
  const auto each = sn::vmap(sn::grad(one), {.in_axes = {std::nullopt, 0, 0}});
  row("gradients of each of " + std::to_string(examples) + " examples, 784-128-10",
      [&] { return list_of(each(small, images, labels)); });
}

ndarray black_scholes(const ndarray& s, const ndarray& volatility, const ndarray& t, const ndarray& rate) {
  const ndarray k = sn::full({}, 100.0f, sn::float32);
  const ndarray root = volatility * sn::sqrt(t);
  const ndarray d1 = (sn::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / root, d2 = d1 - root;
  return s * sn::special::ndtr(d1) - k * sn::exp(-rate * t) * sn::special::ndtr(d2);
}

/// Delta, vega, theta and rho are first derivatives, gamma a second one. Each option's price depends on its own numbers
/// alone, so the gradient of the sum has the derivatives of all.
void greek_rows(const row_printer& row, bool gpu) {
  const std::int64_t n = std::int64_t{1} << (gpu ? 24 : 18);
  const ndarray s = numbers({n}, 50, 150), v = numbers({n}, 0.1, 0.5), t = numbers({n}, 0.1, 2),
                r = numbers({n}, 0, 0.1);
  const auto total = [](const ndarray& s, const ndarray& v, const ndarray& t, const ndarray& r) {
    return sn::sum(black_scholes(s, v, t, r));
  };
  const auto delta_sum = [&](const ndarray& s, const ndarray& v, const ndarray& t, const ndarray& r) {
    return sn::sum(sn::grad(total)(s, v, t, r));
  };
  row("Black-Scholes with five greeks, " + power_name(n), [&] {
    const ndarray price = black_scholes(s, v, t, r);
    const auto [delta, vega, theta, rho] = sn::grad(total, sn::argnums<0, 1, 2, 3>)(s, v, t, r);
    const ndarray gamma = sn::grad(delta_sum)(s, v, t, r);
    return std::vector{price, delta, vega, theta, rho, gamma};
  });
  row("copy of four arrays to six, " + power_name(n),
      [&] { return std::vector<ndarray>{s + v, t + r, -s, -v, -t, -r}; });
}

/// A hundred parameters of a thousand numbers each: what counts is the host's time.
void adam_rows(const row_printer& row) {
  if (!row.wanted("Adam")) return;
  constexpr int count = 100;
  std::vector<ndarray> p, g, m, v;
  for (int k = 0; k < count; ++k) {
    p.push_back(numbers({1000}, -1, 1));
    g.push_back(numbers({1000}, -1, 1));
    m.push_back(numbers({1000}, 0, 1));
    v.push_back(numbers({1000}, 1, 2));
  }
  const auto step = [&] {
    for (int k = 0; k < count; ++k) {
      m[k] *= 0.9f;
      m[k] += 0.1f * g[k];
      v[k] *= 0.999f;
      v[k] += 0.001f * g[k] * g[k];
      p[k] -= 1e-3f * m[k] / (sn::sqrt(v[k]) + 1e-8f);
    }
    sn::eval(p, m, v);
    return p;
  };
  row("Adam step of 100 parameters, called", step);
  const sn::launch_graph graph = sn::capture([&] { step(); });
  row("Adam step of 100 parameters, captured", [&] {
    graph.launch();
    return p;
  });
  std::vector<double> seconds;
  for (int k = 0; k < 31; ++k) {
    sn::synchronize();
    seconds.push_back(seconds_of([&] { graph.launch(); }));
  }
  print_row("Adam step of 100 parameters, captured, time of the call", median(seconds));
}

void loop_rows(const row_printer& row, bool gpu) {
  const ndarray noise = numbers({10000}, -1, 1);
  row("scan of 10000 numbers, 0.9 h + x", [&] {
    const auto [h, all] = sn::scan(
        [](const ndarray& h, const ndarray& x) {
          const ndarray next = 0.9f * h + x;
          return std::pair(next, next);
        },
        sn::zeros({}, sn::float32), noise);
    return std::vector<ndarray>{h, all};
  });
  const std::int64_t width = gpu ? 512 : 64, steps = 200;
  const ndarray w = numbers({width, width}, -0.05, 0.05), u = numbers({steps, width}, -1, 1);
  row("scan of a recurrent network, 200 steps of " + std::to_string(width), [&] {
    const auto [h, all] = sn::scan(
        [&](const ndarray& h, const ndarray& x) {
          const ndarray next = sn::tanh(sn::matmul(w, h) + x);
          return std::pair(next, next);
        },
        sn::zeros({width}, sn::float32), u);
    return std::vector<ndarray>{h, all};
  });
  const ndarray a = numbers({1 << 16}, 1, 100);
  row("while_loop of Newton's roots, 2^16", [&] {
    const auto pair = sn::while_loop(
        [&](const std::pair<ndarray, ndarray>& s) { return sn::max(sn::abs(s.first - s.second)) > 1e-3f; },
        [&](const std::pair<ndarray, ndarray>& s) {
          return std::pair<ndarray, ndarray>(0.5f * (s.first + a / s.first), s.first);
        },
        std::pair<ndarray, ndarray>(a, a + 1.0f));
    return pair.first;
  });
}

}  // namespace

void derivative_rows(const std::string& only) {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const row_printer row{only};
  print_head();
  energy_rows(row, gpu);
  network_rows(row, gpu);
  greek_rows(row, gpu);
  adam_rows(row);
  loop_rows(row, gpu);
}

}  // namespace bench
