// Two models of the same points, trained by Adam with minibatches: a line cannot tell two spirals from one another, two
// layers can.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "common/program.hpp"
#include "network/figure.hpp"
#include "network/training.hpp"

namespace {

using namespace network;

struct options {
  std::int64_t points = 1000, hidden = 64, batch = 100, epochs = 200, seed = 2026;
  std::string device, output;
  bool help = false;
};

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--points") o.points = parse_count(word, list.value_of(word), 10, 10'000'000);
    else if (word == "--hidden") o.hidden = parse_count(word, list.value_of(word), 1, 100'000);
    else if (word == "--batch") o.batch = parse_count(word, list.value_of(word), 1, 10'000'000);
    else if (word == "--epochs") o.epochs = parse_count(word, list.value_of(word), 1, 1'000'000);
    else if (word == "--seed") o.seed = parse_count(word, list.value_of(word), 0, 1'000'000'000'000);
    else if (word == "--device") o.device = list.value_of(word);
    else if (word == "--output") o.output = list.value_of(word);
    else unknown_option(word);
  }
  if (o.batch > o.points) throw usage_error("--batch is larger than --points");
  return o;
}

constexpr const char* help =
    R"(Logistic regression and a network of two layers on two spirals, by Adam with minibatches.

  network [options]

  --points N           of both spirals, for training and again for the test (1000)
  --hidden H           units of the inner layer (64)
  --batch B            points of a step (100)
  --epochs K           times through the points (200)
  --seed S             whole number (2026)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --output FOLDER      write network.png there: losses, and what the network says of the plane
  --help               print this
)";

/// The gradient along itself against a difference of losses.
template <class Model>
void check_gradient(const Model& m, const data_set& d) {
  const auto of = [](const Model& at, const ndarray& x, const ndarray& y) { return loss(at, x, y); };
  Model slope = sn::grad(of)(m, d.points, d.labels), ahead = m, back = m;
  double length = 0;
  const auto g = arrays(slope), above = arrays(ahead), below = arrays(back);
  for (std::size_t k = 0; k < g.size(); ++k) {
    length += sn::sum(sn::square(*g[k])).template item<double>();
    *above[k] = *above[k] + 1e-5 * *g[k];
    *below[k] = *below[k] - 1e-5 * *g[k];
  }
  const ndarray difference = (of(ahead, d.points, d.labels) - of(back, d.points, d.labels)) / 2e-5;
  examples::report({std::fabs(difference.item<double>() / length - 1), 1e-6},
                   "gradient, relative difference from a difference");
}

template <class Model>
std::vector<double> fit(const char* name, Model& m, const data_set& d, const data_set& test, const options& o,
                        double rate, sn::random::generator& g) {
  check_gradient(m, d);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> curve = train(m, d, o.batch, o.epochs, rate, g);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const double steps = static_cast<double>(o.epochs * (o.points / o.batch));
  std::printf("%-12s loss %.6f at first, %.6f at last; accuracy %.4f, %.4f of other points; %.3f ms a step\n", name,
              curve.front(), curve.back(), accuracy(m, d), accuracy(m, test), time.count() / steps * 1e3);
  return curve;
}

void run(const options& o) {
  examples::use_device(o.device);
  auto g = sn::random::default_rng(o.seed);
  const data_set d = two_spirals(o.points, 0.02, g), test = two_spirals(o.points, 0.02, g);
  std::printf("%-12s %lld, batches of %lld, %lld epochs\n", "points", static_cast<long long>(o.points),
              static_cast<long long>(o.batch), static_cast<long long>(o.epochs));
  line straight{sn::zeros({2}), sn::zeros({})};
  const auto of_line = fit("logistic", straight, d, test, o, 0.05, g);
  layers n = random_layers(o.hidden, g);
  const auto of_layers = fit("two layers", n, d, test, o, 0.02, g);
  examples::report({of_layers.back() / of_line.back(), 1}, "loss of two layers over that of logistic regression");
  examples::draw_in(o.output, "network.png",
                    [&](const std::string& path) { write_figure(path, of_line, of_layers, n, test); });
}

}  // namespace

int main(int count, char** words) { return examples::run_program("network", count, words, parse_options, help, run); }
