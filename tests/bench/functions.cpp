// Times sorting, searching, selecting, scanning and counting as users call them, beside their goals, and measures the
// memory that a call takes beyond its input and its result. peers.py --algorithms prints the same rows for other
// libraries; beside.awk prints both side by side.
//
// A goal is "<= N ms" or "<= N x CuPy", the time that CuPy takes in a run on the same machine. Times are the device's:
// events around a batch of calls. Scratch memory is the pool's highest use during one call less what was in use before
// and less the result, in multiples of the input's bytes. The pool counts whole blocks, which may be larger than what
// was requested.
#include <cmath>
#include <exception>
#include <functional>

#include "bench.hpp"
#include "runtime/backend.hpp"

namespace bench {
namespace {

namespace runtime = sinter::runtime;
using namespace sn::idx;
using std::int64_t;
using results = std::vector<ndarray>;

runtime::backend& default_backend() {
  const auto d = sn::default_device();
  const bool gpu = d.kind == sn::device_kind::cuda;
  return runtime::get_backend({gpu ? runtime::device_kind::cuda : runtime::device_kind::cpu, d.index});
}

struct work {
  std::string name;
  ndarray input;                  // whose bytes the scratch memory is compared with
  std::function<results()> call;  // what it returns is evaluated; work in place returns nothing
  const char* goal = "";
  const char* scratch_goal = "";  // in multiples of the input
};

void finish(const results& list) {
  for (const ndarray& a : list) sn::eval(a);
}

/// The median over batches of calls back to back, of 30 ms each; of functions that take more than a second, one call.
double device_seconds(const std::function<results()>& call) {
  const auto timer = default_backend().make_timer();
  const auto batch = [&](int calls) {
    sn::synchronize();
    timer->start(0);
    for (int k = 0; k < calls; ++k) finish(call());
    timer->stop();
    return timer->seconds();
  };
  if (const double first = batch(1); first > 1) return first;
  const int calls = std::clamp(static_cast<int>(0.03 / batch(1)), 1, 1000);
  std::vector<double> seconds;
  for (const double begin = now(); seconds.size() < 3 || (seconds.size() < 7 && now() - begin < 0.4);)
    seconds.push_back(batch(calls) / calls);
  return median(seconds);
}

/// Bytes of the pool's highest use during one call, beyond what was in use before and the result. Cached blocks go back
/// first: one that is larger than requested would count as a whole.
double scratch_bytes(const std::function<results()>& call) {
  runtime::backend& b = default_backend();
  finish(call());  // compiles, and makes what is made only once
  sn::synchronize();
  b.trim();
  b.reset_peak();
  const auto before = static_cast<double>(b.memory().used);
  const results list = call();
  finish(list);
  sn::synchronize();  // reports errors in data as well
  double kept = 0;
  for (const ndarray& a : list) kept += static_cast<double>(a.nbytes());
  return std::max(0.0, static_cast<double>(b.memory().peak) - before - kept);
}

void add(const work& w, bool goals) {
  std::printf("| %s | ", w.name.c_str());
  try {
    const double scratch = scratch_bytes(w.call) / static_cast<double>(w.input.nbytes());
    const double seconds = device_seconds(w.call);
    std::printf("%.4f | %s | %.2f | %s | %.3g |\n", 1e3 * seconds, goals ? w.goal : "", scratch,
                goals ? w.scratch_goal : "", static_cast<double>(w.input.size()) / seconds / 1e9);
  } catch (const std::exception& e) {
    const std::string text = e.what();
    std::printf("%s | | | | |\n", text.substr(0, text.find('\n')).c_str());
  }
  std::fflush(stdout);
}

/// Integers of so many random bits, half of them from each half of x.
ndarray random_integers(const ndarray& x, int bits, sn::dtype type) {
  const int64_t m = x.size() / 2, half = int64_t{1} << (bits / 2), rest = int64_t{1} << (bits - bits / 2);
  auto i = (x(slice(0, m)) * static_cast<double>(half)).astype(type) * rest +
           (x(slice(m, 2 * m)) * static_cast<double>(rest)).astype(type);
  sn::eval(i);
  return i;
}

void sorts(const ndarray& x, bool goals) {
  const int64_t n = x.size(), r = n / 1024;
  const std::string size = power_name(n), rows = power_name(r) + " x 1024";
  const ndarray wide = sn::reshape(x, {r, 1024}), tall = sn::reshape(x, {1024, r});
  add({"sort float32, " + size, x, [&] { return results{sn::sort(x)}; }, "<= 7 ms", "1.2"}, goals);
  add({"argsort float32, " + size, x, [&] { return results{sn::argsort(x)}; }, "<= 1.05 x CuPy", "2.2"}, goals);
  add({"sort rows, " + rows, x, [&] { return results{sn::sort(wide, 1)}; }, "<= 0.5 x CuPy", "1.2"}, goals);
  add({"argsort rows, " + rows, x, [&] { return results{sn::argsort(wide, 1)}; }, "", "2.2"}, goals);
  add({"sort columns, 1024 x " + power_name(r), x, [&] { return results{sn::sort(tall, 0)}; }, "", "1.2"}, goals);
  const int64_t side = int64_t{1} << static_cast<int>(std::lround(std::log2(static_cast<double>(n)) / 2));
  const ndarray square = sn::reshape(x, {n / side, side});
  add({"topk 64 of rows, " + power_name(n / side) + " x " + power_name(side), x,
       [&] {
         const auto found = sn::topk(square, 64);
         return results{found.values, found.indices};
       }},
      goals);
  const ndarray part = x(slice(0, n / 4)).copy(), keys = sn::reshape(x(slice(0, n / 8)), {2, n / 16}).copy();
  sn::eval(part, keys);
  add({"partition at the middle, " + power_name(n / 4), part, [&] { return results{sn::partition(part, n / 8)}; }},
      goals);
  add({"argpartition at the middle, " + power_name(n / 4), part,
       [&] { return results{sn::argpartition(part, n / 8)}; }},
      goals);
  const ndarray folded = sn::reshape(part, {n / 4 / 1024, 1024});
  add({"partition of rows at the middle, " + power_name(n / 4 / 1024) + " x 1024", part,
       [&] { return results{sn::partition(folded, 512)}; }},
      goals);
  add({"lexsort of 2 keys, " + power_name(n / 16), keys, [&] { return results{sn::lexsort(keys)}; }}, goals);
}

void scans(const ndarray& x, bool goals) {
  const int64_t n = x.size(), r = n / 1024;
  const std::string rows = power_name(r) + " x 1024";
  const ndarray wide = sn::reshape(x, {r, 1024});
  add({"cumsum, " + power_name(n), x, [&] { return results{sn::cumsum(x)}; }, "<= 0.6 ms"}, goals);
  add({"cumsum of rows, " + rows, x, [&] { return results{sn::cumsum(wide, 1)}; }}, goals);
  add({"cumsum of columns, " + rows, x, [&] { return results{sn::cumsum(wide, 0)}; }}, goals);
}

void selections(const ndarray& x, bool goals) {
  const std::string size = power_name(x.size()), fewer = power_name(x.size() / 4);
  add({"x[x > 0.5], " + size, x, [&] { return results{x[x > 0.5]}; }, "<= 0.9 ms"}, goals);
  add({"nonzero(x > 0.5), " + size, x, [&] { return results{sn::nonzero(x > 0.5)}; }}, goals);
  auto y = x.copy();
  sn::eval(y);
  add({"y[x > 0.5] = 0, " + size, x,
       [&] {
         y[x > 0.5] = 0;
         sn::eval(y);
         return results{};
       }},
      goals);
  const ndarray part = x(slice(0, x.size() / 4)).copy(), mask = part > 0.5;
  auto masked = part * 2;
  sn::eval(part, mask, masked);
  const auto masked_row = [&](const char* name, auto&& step) {
    add({name + fewer, part,
         [&] {
           step();
           sn::eval(masked);
           return results{};
         }},
        goals);
  };
  masked_row("y[m] = x[m], ", [&] { masked[mask] = part[mask]; });
  masked_row("y[m] += x[m], ", [&] { masked[mask] += part[mask]; });
  masked_row("y[m] = sqrt(x[m]) + 2 x[m], ", [&] { masked[mask] = sn::sqrt(part[mask]) + 2.0f * part[mask]; });
  add({"max(x[m]), " + fewer, part, [&] { return results{sn::max(part[mask])}; }}, goals);
  const int bits = static_cast<int>(std::lround(std::log2(static_cast<double>(x.size()))));
  const ndarray at = random_integers(x(slice(0, x.size() / 2)), bits, sn::int64);
  add({"take " + fewer + " of " + size, at, [&] { return results{sn::take(x, at)}; }, "<= 1 x CuPy"}, goals);
  const ndarray v = x(slice(0, at.size())).copy();
  sn::eval(v);
  add({"add_at " + fewer + " of " + size, at,
       [&] {
         sn::add_at(y, at, v);
         sn::eval(y);
         return results{};
       }},
      goals);
  const ndarray table = sn::sort(x(slice(0, x.size() / 256)));
  add({"searchsorted " + fewer + " in " + power_name(table.size()), v,
       [&] { return results{sn::searchsorted(table, v)}; }},
      goals);
}

void sets_and_counts(const ndarray& x, bool goals) {
  const std::string size = power_name(x.size()), fewer = power_name(x.size() / 4);
  {
    const ndarray few = random_integers(x(slice(0, x.size() / 2)), 20, sn::int32);
    add({"unique int32 in [0, 2^20), " + fewer, few, [&] { return results{sn::unique(few).values}; }, "<= 1 x CuPy"},
        goals);
    add({"unique with counts, int32 in [0, 2^20), " + fewer, few,
         [&] {
           const auto found = sn::unique(few, {.return_counts = true});
           return results{found.values, found.counts};
         }},
        goals);
  }
  {
    const ndarray many = random_integers(x(slice(0, x.size() / 2)), 31, sn::int32);
    add({"unique int32 in [0, 2^31), " + fewer, many, [&] { return results{sn::unique(many).values}; }, "<= 1 x CuPy"},
        goals);
  }
  add({"histogram, 256 bins of [0, 1], " + size, x,
       [&] { return results{sn::histogram(x, 256, {.range = std::pair(0.0, 1.0)}).hist}; }, "<= 1 x CuPy"},
      goals);
  add({"histogram, 10 bins from least to largest, " + size, x, [&] { return results{sn::histogram(x, 10).hist}; },
       "<= 1 x CuPy"},
      goals);
  auto bins = (x(slice(0, x.size() / 4)) * 1000.0).astype(sn::int32);
  auto weights = x(slice(x.size() / 4, x.size() / 2)).copy();
  sn::eval(bins, weights);
  add({"bincount of 1000, int32, " + fewer, bins, [&] { return results{sn::bincount(bins)}; }}, goals);
  add({"bincount of 1000 with float32 weights, " + fewer, bins,
       [&] { return results{sn::bincount(bins, {.weights = weights})}; }},
      goals);
}

}  // namespace

void function_rows() {
  const int64_t n = algorithm_size();
  const bool goals = n == int64_t{1} << 28;
  std::printf("%s, %s\n\n", sn::to_string(sn::default_device()).c_str(), sn::description(sn::default_device()).c_str());
  if (!goals) std::printf("Small sizes, which have no goals: a CPU, or less than 20 GiB of free memory.\n\n");
  std::printf(
      "| work | ms | goal | scratch, x input | its limit | 1e9 inputs/s |\n| --- | ---: | --- | ---: | ---: | ---: "
      "|\n");
  const double begin = now();
  const auto x = random_numbers(n);
  sorts(x, goals);
  scans(x, goals);
  selections(x, goals);
  sets_and_counts(x, goals);
  default_backend().trim();
  std::printf("\nThese rows took %.1f s.\n", now() - begin);
}

}  // namespace bench
