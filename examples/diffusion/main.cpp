// Diffuses a random field by slices and by a CUDA kernel: times a step, checks the results, draws them.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/program.hpp"
#include "common/png.hpp"
#include "diffusion/check.hpp"
#include "diffusion/field.hpp"
#include "diffusion/figure.hpp"
#include "diffusion/options.hpp"
#include "diffusion/steps.hpp"

namespace {

using namespace diffusion;
using examples::report;

/// A way to step; it returns the new field.
struct way {
  const char* name;
  ndarray (*step)(fields&, const scheme&);
};
const way slices{"slices", [](fields& f, const scheme& s) {
                   step_by_slices(f.now, s);
                   return f.now;
                 }};
const way raw{"raw", [](fields& f, const scheme& s) {
                step_by_kernel(f, s);
                return f.now;
              }};

/// Where the picture goes. Throws now rather than after the steps if it cannot be written.
std::string picture_path(const std::string& folder) {
  if (!examples::can_write_png()) throw std::runtime_error("built without libpng, so --output cannot draw");
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const std::string path = folder + "/diffusion.png";
  if (!std::ofstream(path, std::ios::app)) throw std::runtime_error("cannot write " + path);
  return path;
}

ndarray start_field(std::int64_t n, border at_border) {
  const ndarray u = random_field(n, 2025);
  if (at_border == border::reflecting) {
    reflect(u);
  } else {
    u["0"] = 0, u["-1"] = 0;
    u[":, 0"] = 0, u[":, -1"] = 0;
  }
  sn::eval(u);
  return u;
}

ndarray after_steps(const way& w, const ndarray& start, int steps, const scheme& s) {
  fields f{start.copy(), sn::empty_like(start)};
  sn::progress bar(steps, {.name = w.name, .unit = "steps"});
  for (int k = 0; k < steps; ++k) {
    sn::eval(w.step(f, s));  // or all steps would be one recorded expression
    bar.tick();
  }
  sn::synchronize();
  return f.now;
}

/// A small field against plain loops: more than one tile, and no multiple of one.
void check_against_loops(const way& w, const scheme& s) {
  constexpr int n = 97, steps = 100;
  const ndarray start = start_field(n, s.border);
  report(compare_with_loops(start, after_steps(w, start, steps, s), steps, s),
         std::string(w.name) + ", 100 steps of 97 x 97, largest difference from float64 loops");
}

void print_step_time(const way& w, const ndarray& start, const scheme& s) {
  fields f{start.copy(), sn::empty_like(start)};
  const auto time = sn::benchmark([&] { return w.step(f, s); }, {.repeat = 20, .warmup = 3, .name = w.name});
  const double bytes = 2 * static_cast<double>(start.nbytes());  // read once, written once
  std::printf("%-12s %.4f ms a step (host %.4f), %.1f GB/s\n", w.name, time.device.median * 1e3, time.host.median * 1e3,
              bytes / time.device.median / 1e9);
}

ndarray measure(const way& w, const ndarray& start, const options& o, const scheme& s) {
  check_against_loops(w, s);
  print_step_time(w, start, s);
  const auto begin = std::chrono::steady_clock::now();
  const ndarray result = after_steps(w, start, o.steps, s);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%-12s %d steps in %.3f s\n", "", o.steps, seconds);
  if (s.border == border::reflecting)
    report(compare_sums(start, result, o.steps, s), std::string(w.name) + ", change of the mean");
  return result;
}

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const std::string picture = o.output.empty() ? "" : picture_path(o.output);
  const auto device = sn::default_device();
  const long long n = o.size;
  std::printf("%-12s %s, %s\n", "device", sn::to_string(device).c_str(), sn::description(device).c_str());
  std::printf("%-12s %lld x %lld float32, %s border\n", "field", n, n,
              o.border == border::fixed ? "fixed" : "reflecting");
  const scheme s{.border = o.border};
  const ndarray start = start_field(o.size, o.border);

  std::vector<ndarray> results;
  if (o.method != method::raw) results.push_back(measure(slices, start, o, s));
  if (o.method == method::all && device.kind != sn::device_kind::cuda)
    std::printf("%-12s left out: it needs a CUDA device\n", raw.name);
  else if (o.method != method::slices) results.push_back(measure(raw, start, o, s));
  if (results.size() == 2) {
    const double magnitude = sn::max(sn::absolute(start)).item<double>();
    report({sn::max(sn::absolute(results[0] - results[1])).item<double>(), 2 * rounding_bound(o.steps, s, magnitude)},
           "largest difference between slices and raw");
  }
  if (picture.empty()) return;
  write_figure(picture, start, results[0], o.steps);
  std::printf("%-12s %s\n", "picture", picture.c_str());
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("diffusion", count, words, parse_options, help_text(), run);
}
