// The compiler vectorises generated loops: operations that each are vectorised need not be in a chain.
#include <doctest/doctest.h>

#include <complex>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cpu/block.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cpu/hooks.hpp"
#include "jit/program/launch.hpp"
#include "platform/environment.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

using namespace sinter;

namespace {

std::vector<std::string>* texts = nullptr;

void keep_text(const jit::launch& l) {
  jit::cpu_definition d;
  d.code = l.code;
  d.name = "block";
  texts->push_back(jit::emit_cpu(std::span(&d, 1)));
}

std::string text_of(const ndarray& x) {
  std::vector<std::string> all;
  texts = &all;
  const cpu::launch_observer before = cpu::set_launch_observer(keep_text);
  eval(x);
  cpu::set_launch_observer(before);
  REQUIRE(all.size() == 1);
  return all.front();
}

/// What the compiler says about the loops that it vectorises.
std::string report_of(const std::string& compiler, const std::string& text) {
  const sinter_test::scratch_folder folder;
  const std::string source = folder / "kernel.cpp";
  std::ofstream(source) << text;
  std::string command = "'" + compiler + "'";
  for (const std::string& option : jit::host_options()) command += " '" + option + "'";
  command += " -fopt-info-vec-optimized -o '" + source + ".so' '" + source + "' 2>&1";
  std::string report;
  FILE* const run = popen(command.c_str(), "r");
  REQUIRE(run != nullptr);
  char part[4096];
  while (const std::size_t n = std::fread(part, 1, sizeof part, run)) report.append(part, n);
  CHECK_MESSAGE(pclose(run) == 0, report);
  return report;
}

}  // namespace

TEST_CASE("loops of masks, selections and extrema are vectorised, in chains too") {
  const auto found = jit::probe_host_compiler("", platform::environment("PATH"));
  if (found.path.empty()) {
    MESSAGE("no host compiler: " << found.reason);
    return;
  }
  const ndarray x = (arange(5000).astype(float32) * 0.37f).to_device("cpu"), y = (x - 7).to_device("cpu");
  const ndarray k = (arange(5000).astype(int32) % 101).to_device("cpu");
  const ndarray z = (x.astype(float64) * std::complex<double>(1, 2)).to_device("cpu");
  const ndarray w = x * 3 - y;
  eval(x, y, k, z, w);
  const auto first_below = [&](ndarray when) {  // the step in which a state is reached; later ones change it no more
    ndarray state = x;
    for (int step = 0; step < 4; ++step) {
      state = state * 0.5f + 1 / (state * state + 1);
      when = where((state < 3) & (when < 0), step, when);
    }
    return when;
  };
  const std::vector<std::pair<const char*, ndarray>> chains{
      {"the place of the least of three", argmin(stack({x, y, w}), 0)},
      {"the place of the greatest of four", argmax(stack({x, y, w, x}), 0)},
      {"a mask is added", x + (x * y <= 4)},
      {"a mask is a factor", (x > y) * x - (y < 3)},
      {"clip", clip(x + y, 1.0f, 9.0f) * y},
      {"extrema", maximum(minimum(maximum(x, y), 4.0f), y * 2)},
      {"selections", where((x > 1) & (y < 5), x * 2, where(isnan(y), x, y)) + 1},
      {"first steps", first_below((k * 0 - 1).astype(int32))},
      {"first steps of floats", first_below(x * 0 - 1)},
      {"first steps of wide numbers", first_below(k.astype(int64) * 0 - 1)},
      {"whole numbers", clip(k * 3 - 7, 0, 200) + (k == 3)},
      {"shifts", (k ^ (k >> 3)) + (k << 5)},
      {"shifts of unsigned numbers", (k.astype(uint32) ^ (k.astype(uint32) >> 16)) * 0x45d9f3b},
      {"shifts by several counts", (k >> (k & 7)) + (k.astype(int32) << (k & 3))},
      {"selections of masks", where(x > y, x > 3, y < 2)},
      {"selections of negated masks", ~where(k == 3, ~(x > 3), ~(y < 2))},
      {"a part of complex numbers", z.real() * 2 - 1},
      {"both parts", z.real() * z.real() + z.imag() * z.imag()},
      {"products of complex numbers", z * z + z},
      {"their quotients and conjugates", (z - 1.0) * conj(z) / (z + 1.0)},
      {"their selections", where(isnan(z * z) | (z == 1.0), z, z + 2.0)},
      {"lengths of their products", (z * z).real() * 2 + (z * z).imag()},
      {"products of complex64", z.astype(complex64) * z.astype(complex64) - y},
      {"reads by index", take(x, k) * 2 + y},
      {"reads of whole numbers by index", take(k, k.astype(int64) - 50) + 1},
      {"float64", (clip(x.astype(float64), 0.5, 3.5) + (y.astype(float64) != 2)) * 3}};
  for (const auto& chain : chains) {
    CAPTURE(chain.first);
    const std::string text = text_of(chain.second), report = report_of(found.path, text);
    CHECK_MESSAGE(report.find("loop vectorized") != std::string::npos, text.substr(text.rfind("extern \"C\"")));
  }
}
