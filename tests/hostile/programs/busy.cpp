// Times 300 steps of the heat equation and 20000 sorts of a tiny array: "heat SECONDS sorts SECONDS", the shortest of
// three.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace {

template <class F>
double seconds(F&& f) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main() {
  sn::ndarray u = sn::random::generator(1).uniform(0, 1, {400, 400});
  sn::eval(u);
  const double heat = seconds([&] {
    for (int step = 0; step < 300; ++step) {
      u["1:-1, 1:-1"] += 0.1 * (u["2:, 1:-1"] + u[":-2, 1:-1"] + u["1:-1, 2:"] + u["1:-1, :-2"] - 4 * u["1:-1, 1:-1"]);
      sn::eval(u);
    }
  });
  const sn::ndarray small = sn::random::generator(2).uniform(0, 1, {3, 5});
  sn::eval(small);
  const double sorts = seconds([&] {
    for (int k = 0; k < 20000; ++k) sn::eval(sn::sort(small));
  });
  std::printf("heat %.4f sorts %.4f\n", heat, sorts);
}
