// Times the special functions of special.def, float64 and float32: milliseconds of processor time, the least of several calls;
// with SINTER_BENCH_WALL=1 of wall time, which is what several threads save.
// special.py prints the same rows of SciPy's, and both beside each other. Set SINTER_NUM_THREADS=1 for one core.
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>

#include "tests/bench/bench.hpp"

namespace bench {
namespace {

constexpr std::int64_t count = 1000000;

struct domain {
  double low, high;
  bool whole;
};
constexpr domain REAL(double low, double high) { return {low, high, false}; }
constexpr domain WHOLE(double low, double high) { return {low, high, true}; }
constexpr domain CHANCE() { return {0, 1, false}; }

using arguments = std::vector<ndarray>;
using results = std::vector<ndarray>;
struct special_row {
  std::string name;
  std::vector<domain> domains;
  std::function<results(const arguments&)> call;
};

template <class F>
results apply(F f, const arguments& x) {
  if constexpr (std::is_invocable_v<F, ndarray, ndarray, ndarray>) return {f(x.at(0), x.at(1), x.at(2))};
  else if constexpr (std::is_invocable_v<F, ndarray, ndarray>) return {f(x.at(0), x.at(1))};
  else return {f(x.at(0))};
}

results zeta_of_one(const arguments& x) { return {sn::special::zeta(x[0])}; }
results lambertw(const arguments& x) { return {sn::special::lambertw(x[0])}; }
results sici(const arguments& x) {
  const auto both = sn::special::sici(x[0]);
  return {both.si, both.ci};
}
results sph_harm_y(const arguments& x) { return {sn::special::sph_harm_y(x[0], x[1], x[2], x[3])}; }
results logsumexp(const arguments& x) { return {sn::special::logsumexp(x[0])}; }
results softmax(const arguments& x) { return {sn::special::softmax(x[0])}; }
results log_softmax(const arguments& x) { return {sn::special::log_softmax(x[0])}; }
results logsumexp_of_rows(const arguments& x) { return {sn::special::logsumexp(x[0].reshape(-1, 1000), 1)}; }
results softmax_of_rows(const arguments& x) { return {sn::special::softmax(x[0].reshape(-1, 1000), 1)}; }
results log_softmax_of_rows(const arguments& x) { return {sn::special::log_softmax(x[0].reshape(-1, 1000), 1)}; }

std::vector<special_row> rows() {
  std::vector<special_row> list;
#define ROW(name, ...)                                                                                                 \
  list.push_back({#name, {__VA_ARGS__}, [](const arguments& x) {                                                       \
                    return apply(                                                                                      \
                        [](const auto&... a) -> decltype(sn::special::name(a...)) { return sn::special::name(a...); }, \
                        x);                                                                                            \
                  }});
#define NAMED(name, ...) list.push_back({#name, {__VA_ARGS__}, &name});
#include "tests/bench/special/special.def"
#undef ROW
#undef NAMED
  return list;
}

double seconds() {
  static const bool wall = std::getenv("SINTER_BENCH_WALL") != nullptr;
  if (wall) return now();
  std::timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The least of at least five calls, within half a second where that is more.
double least_seconds(const special_row& row, const arguments& x) {
  double least = std::numeric_limits<double>::infinity();
  int calls = 0;
  for (const double begin = now(); calls < 5 || (now() - begin < 0.5 && calls < 200); ++calls) {
    const double start = seconds();
    sn::eval(row.call(x));
    sn::synchronize();
    least = std::min(least, seconds() - start);
  }
  return least;
}

}  // namespace

void special_rows(const std::string& only) {
  auto g = sn::random::default_rng(3);
  std::printf("| function, %lld numbers | float64, ms | float32, ms |\n| --- | ---: | ---: |\n",
              static_cast<long long>(count));
  for (const special_row& row : rows()) {
    if (row.name.find(only) == std::string::npos) continue;
    std::printf("| %s |", row.name.c_str());
    for (const sn::dtype type : {sn::float64, sn::float32}) {
      arguments x;
      for (const domain& d : row.domains) {
        const ndarray u = g.uniform(d.low, d.high, count);
        x.push_back((d.whole ? sn::floor(u) : u).astype(type));
        sn::eval(x.back());
      }
      std::printf(" %.3f |", 1e3 * least_seconds(row, x));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace bench
