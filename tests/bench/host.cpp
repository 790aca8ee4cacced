// What recording and evaluating tiny arrays takes on the host, for counting instructions (host.sh).
// Usage: sinter_bench_host                  the names of the cases
//        sinter_bench_host CASE ROUNDS      runs a case so often, and prints the shortest of five times per round
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"

namespace {

namespace sn = sinter;
using namespace sinter::idx;
using sn::ndarray;
using sn::slice;

struct host_case {
  const char* name;
  std::function<void()> run;
};

ndarray ten_operations(const ndarray& x, const ndarray& y) {
  return ((((((((x + y) * x - y) * y + x) * x) - y) * y) + x) / y);
}

ndarray mandelbrot(const ndarray& a, const ndarray& b) {
  ndarray x = 0 * a, y = 0 * a, t = 0 * a;
  for (int k = 0; k < 50; ++k) {
    const ndarray next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    t = t + (x * x + y * y <= 4);
  }
  return t;
}

/// One step into v, with its four boundary writes.
void five_points(const ndarray& u, ndarray& v) {
  const auto inner = slice(1, -1), before = slice(_, -2), after = slice(2, _);
  v(inner, inner) = u(inner, inner) + 0.2 * (u(before, inner) + u(after, inner) + u(inner, before) + u(inner, after) -
                                             4 * u(inner, inner));
  v(0) = v(1);
  v(-1) = v(-2);
  v(_, 0) = v(_, 1);
  v(_, -1) = v(_, -2);
}

ndarray neighbours(const ndarray& g) {  // of Life, by eight rolls
  ndarray c = sn::roll(g, {-1, -1}, {0, 1});
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      if ((i != 0 || j != 0) && !(i == -1 && j == -1)) c = c + sn::roll(g, {i, j}, {0, 1});
  return c;
}

struct adam_state {
  ndarray p, g, u, v;
  void step() {
    u = 0.9f * u + 0.1f * g;
    v = 0.999f * v + 0.001f * g * g;
    p = p - 0.001f * u / (sn::sqrt(v) + 1e-8f);
  }
};

std::vector<host_case> all_cases() {
  static const ndarray x = bench::numbers({4}, 0, 1), y = bench::numbers({4}, 1, 2), a = bench::numbers({4, 4}, -2, 1),
                       b = bench::numbers({4, 4}, -1, 1), u = bench::numbers({8, 8}, 0, 1);
  static ndarray v = bench::numbers({8, 8}, 0, 1);
  static adam_state adam{x + 1, y + 1, 0 * x, 0 * x};
  return {{"record_add", [] { ndarray z = x + y; }},
          {"record_ten", [] { ndarray z = ten_operations(x, y); }},
          {"record_view", [] { ndarray z = u(slice(1, -1), slice(1, -1)); }},
          {"record_mandelbrot", [] { ndarray z = mandelbrot(a, b); }},
          {"add", [] { sn::eval(x + y); }},
          {"ten", [] { sn::eval(ten_operations(x, y)); }},
          {"mandelbrot", [] { sn::eval(mandelbrot(a, b)); }},
          {"five_points",
           [] {
             five_points(u, v);
             sn::eval(v);
           }},
          {"life", [] { sn::eval(neighbours(u)); }},
          {"adam", [] {
             for (int k = 0; k < 10; ++k) adam.step();
             sn::eval(adam.p, adam.u, adam.v);
           }}};
}

}  // namespace

int main(int count, char** words) {
  const std::vector<host_case> cases = all_cases();
  if (count < 3) {
    for (const host_case& c : cases) std::puts(c.name);
    return 0;
  }
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](auto& c) { return std::strcmp(c.name, words[1]) == 0; });
  if (found == cases.end()) {
    std::fprintf(stderr, "there is no case %s\n", words[1]);
    return 2;
  }
  const int rounds = std::atoi(words[2]);
  for (int k = 0; k < 5; ++k) found->run();
  double best = 1e9;
  for (int r = 0; r < 5; ++r)
    best = std::min(best, bench::seconds_of([&] {
                      for (int k = 0; k < rounds; ++k) found->run();
                    }));
  std::printf("%s %.3f us\n", found->name, best / std::max(rounds, 1) * 1e6);
}
