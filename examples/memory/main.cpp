// Runs one computation with its arrays in each kind of memory, checks every element, and prints what each way costs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "common/verdict.hpp"
#include "memory/options.hpp"
#include "memory/ways.hpp"

namespace {

using namespace memory;

/// The worst element's error in units of what the roundings of two products, a sum and a root allow.
examples::verdict compare(const input& in, const std::vector<float>& z) {
  double worst = z.size() == in.x.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < std::min(z.size(), in.x.size()); ++k) {
    const double expected = exact(in.x[k], in.y[k]);
    const double error = std::fabs(z[k] - expected) / (2.5 * 0x1p-24 * expected + 1e-30);
    worst = error <= worst ? worst : error;  // NaN counts
  }
  return {worst, 1};
}

/// Pages of managed memory that a GPU cannot hold would wander to and fro, and memory that is missing is missing.
void require_room(std::int64_t size, const sn::device& on) {
  const std::size_t available = sn::memory(on).available, wanted = bytes_for(size);
  if (wanted <= available / 2) return;
  throw std::runtime_error(std::to_string(size) + " elements take " + std::to_string(wanted >> 20) +
                           " MiB, more than half of the " + std::to_string(available >> 20) + " MiB that " +
                           sn::to_string(on) + " has left; choose a smaller --size");
}

void run(const options& o) {
  if (!o.device.empty()) sn::set_default_device(sn::device(o.device));
  const sn::device on = sn::default_device();
  require_room(o.size, on);
  std::printf("%s, %s; %lld float32 elements in each of three arrays, times in ms\n\n", sn::to_string(on).c_str(),
              sn::description(on).c_str(), static_cast<long long>(o.size));
  const input in = make_input(o.size);
  std::printf("| memory | bring | compute | again | collect |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (const way& w : all_ways()) {
    if (w.needs_gpu && on.kind != sn::device_kind::cuda) {
      std::printf("%s: left out, it needs a CUDA device\n", w.name.c_str());
      continue;
    }
    cost c;
    (void)w.run(in, on, c);  // compiles, and fills the pools
    const std::vector<float> z = w.run(in, on, c);
    std::printf("| %s | %.3f | %.3f | %.3f | %.3f |\n", w.name.c_str(), c.bring * 1e3, c.first * 1e3, c.again * 1e3,
                c.collect * 1e3);
    examples::require(compare(in, z), w.name + ", error in units of what rounding allows");
  }
  std::printf("\nevery element of every way is within the roundings of its four operations\n");
}

}  // namespace

int main(int count, char** words) {
  return examples::run_program("memory", [&] {
    const auto o = memory::parse_options(count, words);
    if (o.help) std::fputs(memory::help_text().c_str(), stdout);
    else run(o);
  });
}
