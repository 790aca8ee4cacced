// The fused broadcast of search.hpp: NumPy's lines. In the ladder on the CPU and on a GPU, alone where --device says.
#include <cstdio>

#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

outcome search_on(const sn::device& on, const task& t) {
  const sn::fast_math_guard fast(t.o.fast_math);
  const auto search = [&](const places& cities) { return search_arrays(cities, t, on, find_nearest); };
  if (t.o.explain) {
    const auto p = upload(t.cities, on), q = upload(t.airports, on);
    std::printf("\n%s\n", sn::explain(find_nearest(p, q).distance).c_str());
  }
  if (on.kind == sn::device_kind::cpu && t.o.every_method()) return search_some(t, search);
  return search(t.cities);
}

rung rung_on(const sn::device& on, const std::string& missing, bool fast_math) {
  const bool cpu = on.kind == sn::device_kind::cpu;
  return {"broadcast",
          cpu ? "CPU" : "GPU",
          sn::to_string(on),
          missing,
          [on](const task& t) { return search_on(on, t); },
          cpu || !fast_math};
}

}  // namespace

std::vector<rung> broadcast_rungs(const options& o) {
  if (!o.every_method())
    return {rung_on(o.device.empty() ? sn::default_device() : sn::device(o.device), {}, o.fast_math)};
  return {rung_on(sn::cpu, {}, o.fast_math), rung_on(gpu_of(o), why_no_gpu(o), o.fast_math)};
}

}  // namespace nearest_neighbor
