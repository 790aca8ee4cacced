// Shared by the tests of streams: their devices, random programs over streams, arrays of counted numbers, messages.
#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/message_of.hpp"
#include "support/simulated_gpu.hpp"

namespace stream_test {

namespace sn = sinter;
using namespace sn::idx;
using sinter_test::message_of;
using sn::ndarray;

using list = std::vector<std::int64_t>;
inline list values(const ndarray& x) { return x.to_vector<std::int64_t>(); }

/// The CPU, a simulated GPU, and the GPU where there is one.
inline std::vector<sn::device> devices() {
  std::vector<sn::device> all{sn::cpu, sim::first()};
  if (sn::default_device().kind == sn::device_kind::cuda) all.push_back(sn::default_device());
  return all;
}

inline ndarray ramp(std::int64_t n, const sn::device& d) {
  const ndarray x = sn::arange(n, {.device = d});
  sn::eval(x);
  return x;
}

inline list counting(std::int64_t n, std::int64_t scale = 1, std::int64_t offset = 0) {
  list v;
  for (std::int64_t k = 0; k < n; ++k) v.push_back(scale * k + offset);
  return v;
}

/// The same random sequence of operations on arrays of a device, each on a random stream of a list.
inline std::vector<list> random_program(std::uint64_t seed, const sn::device& d,
                                        const std::vector<sn::stream>& streams) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::int64_t n = 48;
  std::vector<ndarray> x;
  for (int k = 0; k < 5; ++k) x.push_back(sn::arange(n, {.device = d}) * (k + 1));
  std::vector<list> seen;
  for (int step = 0; step < 60; ++step) {
    const std::size_t a = draw(x.size()), b = draw(x.size()), c = draw(x.size()), what = draw(10);
    const auto first = static_cast<std::int64_t>(draw(n / 2));
    const std::size_t on = draw(streams.empty() ? 1 : streams.size());
    std::optional<sn::stream_guard> guard;
    if (!streams.empty()) guard.emplace(streams[on]);
    switch (what) {
      case 0: x[a] = x[b] + x[c]; break;
      case 1: x[a] += x[b] % 7; break;
      case 2: x[a](slice(first, first + 8)) = x[b](slice(first + 3, first + 11)); break;
      case 3: x[a] = sn::roll(x[b], 5) - x[c]; break;
      case 4: x[a](slice(_, _, 3)) += 1; break;
      case 5: x[a] = x[b].copy(); break;
      case 6: x[a](_) = sn::where(x[b] % 2 == 0, x[b], x[c]); break;
      case 7: x[a] = x[b] * 0 + sn::sum(x[c] % 1000); break;
      case 8: seen.push_back(values(x[a](slice(first, first + 4)))); break;
      default: x[a] = x[b] % 1000003; break;
    }
    if (what < 8 && draw(4) != 0) sn::eval(x[a]);
  }
  for (const ndarray& v : x) seen.push_back(values(v));
  return seen;
}

inline std::vector<sn::stream> some_streams(const sn::device& d, int n) {
  std::vector<sn::stream> made{sn::default_stream(d)};
  for (int k = 1; k < n; ++k) made.emplace_back(sn::stream_kw{.device = d, .non_blocking = true});
  return made;
}

}  // namespace stream_test
