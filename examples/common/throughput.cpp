// Checks and times every form at every size, and prints the table.
#include "common/throughput.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

#include "common/command_line.hpp"
#include "common/random.hpp"
#include "sinter/sinter.hpp"

namespace examples {
namespace {

struct options {
  std::vector<std::int64_t> sizes{1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  std::string device;  // empty: sinter's default
  int repeat = 20;
  bool help = false;
};

options parse_options(int count, const char* const* words) {
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--sizes") {
      o.sizes = parse_counts(word, list.value_of(word), 1, 4'000'000'000);
    } else if (word == "--device") {
      o.device = list.value_of(word);
    } else if (word == "--repeat") {
      o.repeat = static_cast<int>(parse_count(word, list.value_of(word), 1, 1'000'000));
    } else {
      unknown_option(word);
    }
  }
  return o;
}

std::string help_text(const computation& c) {
  return c.formula + R"( over vectors of float32 numbers, in every form, as one table of bytes per second.

  )" + c.name +
         R"( [options]

  --sizes N,N,...      elements of a vector (1e3,1e4,1e5,1e6,1e7,1e8)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --repeat K           time each K times and take the median (20)
  --help               print this
)";
}

/// The vectors of one size, in host memory and on the device.
struct input {
  std::vector<float> host_x, host_y;
  ndarray x, y;
  explicit input(std::int64_t n)
      : host_x(random_numbers(static_cast<std::size_t>(n), 1)),
        host_y(random_numbers(static_cast<std::size_t>(n), 2)),
        x(sn::array(host_x)),
        y(sn::array(host_y)) {}
};

class table {
 public:
  table(const computation& c, const options& o) : computation_(c), repeat_(o.repeat) {
    for (const auto n : o.sizes) inputs_.emplace_back(n);
  }

  void print() {
    print_head();
    for (const form& f : computation_.forms)
      if (runs_here(f)) print_row(f);
    for (const form& f : computation_.forms)
      if (!runs_here(f) && f.where == runs_on::gpu_only)
        std::printf("\n%s: left out, it needs a CUDA device", f.name.c_str());
    std::printf("\nlargest error, in units of what float32 rounding allows: %.2f\n", worst_);
  }

 private:
  const computation& computation_;
  int repeat_;
  std::vector<input> inputs_;
  std::map<double, double> copies_;  // seconds by bytes
  double worst_ = 0;                 // of all verdicts

  static bool runs_here(const form& f) {
    const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
    return f.where == runs_on::any_device || (f.where == runs_on::gpu_only) == gpu;
  }

  double seconds_of(const work& w) const { return sn::benchmark(w, {.repeat = repeat_, .warmup = 3}).device.median; }

  /// Seconds of moving the bytes: one half is read, the other written. The faster of two ways, since caches make a
  /// difference: into a part of an array, and -x as a new one. (x.copy() would move nothing: the elements are shared
  /// until one of the two is written.)
  double copy_seconds(double bytes) {
    const auto [place, is_new] = copies_.try_emplace(bytes, 0.0);
    if (is_new) {
      using namespace sn::idx;
      const auto n = static_cast<std::int64_t>(std::ceil(bytes / 8));
      const ndarray from = sn::ones({n}, {.dtype = sn::float32}), to = sn::zeros({n + 1}, {.dtype = sn::float32});
      sn::eval(from, to);
      const double into_part = seconds_of([&] {
        to(slice(n)) = from;
        return to;
      });
      place->second = std::min(into_part, seconds_of([&] { return -from; }));
    }
    return place->second;
  }

  void print_head() const {
    std::printf("GB per second, and in brackets the part of what a copy of as many bytes reaches\n\n");
    std::printf("| form | bytes |");
    for (const input& in : inputs_) std::printf(" %.4g |", static_cast<double>(in.host_x.size()));
    std::printf("\n| --- | ---: |");
    for (std::size_t k = 0; k < inputs_.size(); ++k) std::printf(" ---: |");
    std::printf("\n");
  }

  void print_row(const form& f) {
    sn::progress bar(static_cast<std::int64_t>(inputs_.size()), {.name = f.name, .unit = "sizes"});
    std::string cells;
    for (const input& in : inputs_) {
      cells += cell(f, in);
      bar.tick();
    }
    bar.finish();
    std::printf("| %s | %g |%s\n", f.name.c_str(), f.bytes, cells.c_str());
    std::fflush(stdout);
  }

  std::string cell(const form& f, const input& in) {
    const std::size_t n = in.host_x.size();
    const work w = f.prepare(in.x, in.y);
    const verdict v = check(computation_, f, w(), in.host_x, in.host_y);
    require(v, f.name + " of " + std::to_string(n) + " elements, error in units of what is allowed");
    worst_ = std::max(worst_, v.error);
    const double bytes = f.bytes * static_cast<double>(n), seconds = seconds_of(w);
    char text[64];
    std::snprintf(text, sizeof text, " %.3g (%.0f%%) |", bytes / seconds / 1e9, 100 * copy_seconds(bytes) / seconds);
    return text;
  }
};

void run(const computation& c, const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const auto device = sn::default_device();
  std::printf("%s on %s, %s\n", c.formula.c_str(), sn::to_string(device).c_str(), sn::description(device).c_str());
  table(c, o).print();
}

/// The error in units of what is allowed: 0 where there is none, infinity where it is not a number.
double units(double error, double allowed) {
  const double ratio = error == 0 ? 0 : error / allowed;
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

}  // namespace

verdict check(const computation& c, const form& f, const ndarray& result, std::span<const float> x,
              std::span<const float> y) {
  const auto found = result.host<float>();
  const bool folds = f.result == gives::number;
  if (found.size() != (folds ? 1 : x.size())) return {std::numeric_limits<double>::infinity(), 1};
  double worst = 0, folded = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = static_cast<double>(x[i]), q = static_cast<double>(y[i]), exact = c.exact(p, q);
    if (folds) folded = c.fold(folded, exact);
    else worst = std::max(worst, units(std::fabs(static_cast<double>(found[i]) - exact), c.allowed(p, q)));
  }
  if (folds) worst = units(std::fabs(static_cast<double>(found[0]) - folded), c.fold_allowed(folded));
  return {worst, 1};
}

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  generator random(seed);
  std::vector<float> numbers(count);
  for (float& v : numbers) v = random.uniform(0.5f);
  return numbers;
}

ndarray spread(const ndarray& x) {
  const ndarray twice = sn::repeat(x, 2);
  sn::eval(twice);
  return twice["::2"];
}

int run_throughput(const computation& c, int count, char** words) {
  return run_program(c.name.c_str(), [&] {
    const auto o = parse_options(count, words);
    if (o.help) std::fputs(help_text(c).c_str(), stdout);
    else run(c, o);
  });
}

}  // namespace examples
