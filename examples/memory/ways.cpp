// Device memory with copies, pinned memory with copies that overlap, pinned memory used in place, managed memory.
#include "memory/ways.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

namespace memory {
namespace {

using namespace sn::idx;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double seconds_of(F&& work) {
  const double begin = now();
  work();
  return now() - begin;
}

ndarray length(const ndarray& x, const ndarray& y) { return sn::sqrt(x * x + y * y); }

void compute(ndarray& z, const ndarray& x, const ndarray& y, const sn::device& on) {
  z = length(x, y);
  sn::eval(z);
  sn::synchronize(on);
}

/// What the host does with an array that it can address: here, fill it.
ndarray filled(const std::vector<float>& from, sn::memory_kind kind, const sn::device& on) {
  const sn::memory_scope scope(kind, on);
  const ndarray x = sn::empty(static_cast<std::int64_t>(from.size()), {.dtype = sn::float32, .device = on});
  std::memcpy(x.host_data<float>(), from.data(), from.size() * sizeof(float));
  return x;
}

std::vector<float> with_copies(const input& in, const sn::device& on, cost& c) {
  ndarray x, y, z;
  std::vector<float> result;
  c.bring = seconds_of([&] {
    x = sn::array(in.x, {.device = on});
    y = sn::array(in.y, {.device = on});
  });
  c.first = seconds_of([&] { compute(z, x, y, on); });
  c.again = seconds_of([&] { compute(z, x, y, on); });
  c.collect = seconds_of([&] { result = z.to_vector<float>(); });
  return result;
}

/// Parts on two streams: while one is computed, the next comes and the last goes. All of it counts as computing.
std::vector<float> with_overlap(const input& in, const sn::device& on, cost& c) {
  constexpr std::int64_t parts = 8;
  ndarray x, y;
  std::vector<ndarray> results(parts);
  std::vector<float> result(in.x.size());
  const sn::stream streams[2] = {sn::stream({.device = on, .non_blocking = true}),
                                 sn::stream({.device = on, .non_blocking = true})};
  c.bring = seconds_of([&] {
    x = filled(in.x, sn::memory_kind::pinned, sn::cpu);
    y = filled(in.y, sn::memory_kind::pinned, sn::cpu);
  });
  const auto n = static_cast<std::int64_t>(in.x.size());
  std::vector<ndarray> xs, ys;  // separate pinned arrays, so that each part is one copy
  {
    const sn::memory_scope pinned(sn::memory_kind::pinned, sn::cpu);
    for (std::int64_t k = 0; k < parts; ++k) {
      const auto part = slice(k * n / parts, (k + 1) * n / parts);
      xs.push_back(x(part) + 0.0f);
      ys.push_back(y(part) + 0.0f);
      sn::eval(xs.back(), ys.back());
    }
  }
  const auto all_parts = [&] {
    for (std::int64_t k = 0; k < parts; ++k) {
      const sn::stream& s = streams[k % 2];
      const sn::stream_guard here(s);
      const auto p = static_cast<std::size_t>(k);
      results[p] = length(xs[p].to_device(on, s), ys[p].to_device(on, s)).to_host(s);
    }
    sn::synchronize(on);
  };
  c.first = seconds_of(all_parts);
  c.again = seconds_of(all_parts);
  c.collect = seconds_of([&] {
    float* to = result.data();
    for (const ndarray& part : results) {
      const auto view = part.host<float>();
      to = std::copy(view.begin(), view.end(), to);
    }
  });
  return result;
}

std::vector<float> in_place(sn::memory_kind kind, bool prefetched, const input& in, const sn::device& on, cost& c) {
  const sn::memory_scope scope(kind, on);
  ndarray x, y, z;
  std::vector<float> result(in.x.size());
  c.bring = seconds_of([&] {
    x = filled(in.x, kind, on);
    y = filled(in.y, kind, on);
    if (prefetched) {
      sn::prefetch(x, on);
      sn::prefetch(y, on);
      sn::synchronize(on);
    }
  });
  c.first = seconds_of([&] { compute(z, x, y, on); });
  c.again = seconds_of([&] { compute(z, x, y, on); });
  c.collect = seconds_of([&] {
    if (prefetched) {
      sn::prefetch(z, sn::cpu);
      sn::synchronize(on);
    }
    std::memcpy(result.data(), z.host_data<float>(), result.size() * sizeof(float));
  });
  return result;
}

}  // namespace

input make_input(std::int64_t count) {
  input in;
  for (std::int64_t k = 0; k < count; ++k) {
    in.x.push_back(static_cast<float>(k % 1013) * 0.125f - 60);
    in.y.push_back(static_cast<float>(k % 4099) * 0.0625f - 100);
  }
  return in;
}

double exact(float x, float y) { return std::hypot(static_cast<double>(x), static_cast<double>(y)); }

// Inputs, the copies that are read of arrays whose addresses the host has, a result, and the one before it while the
// computation runs again.
std::size_t bytes_for(std::int64_t count) { return 6 * sizeof(float) * static_cast<std::size_t>(count); }

std::vector<way> all_ways() {
  using sn::memory_kind;
  const auto placed = [](memory_kind kind, bool prefetched) {
    return [=](const input& in, const sn::device& on, cost& c) { return in_place(kind, prefetched, in, on, c); };
  };
  return {{"device, copies", false, with_copies},
          {"device, pinned copies in parts", true, with_overlap},
          {"pinned, used in place", true, placed(memory_kind::pinned, false)},
          {"managed", true, placed(memory_kind::managed, false)},
          {"managed, prefetched", true, placed(memory_kind::managed, true)}};
}

}  // namespace memory
