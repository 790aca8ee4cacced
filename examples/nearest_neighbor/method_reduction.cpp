// A reduction kernel from text: the broadcast's pairs, reduced along the references by a monoid of (distance, index).
#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

using namespace sn::idx;

neighbours search(const ndarray& p, const ndarray& q) {
  // The square of half a chord is enough to compare by; equal ones go to the smaller index, in whatever order they meet.
  static const sn::reduction_kernel nearest(
      "T lat1, T lon1, T cos1, T lat2, T lon2, T cos2, int64 j, T diameter", "int64 index, T distance",
      "pair_of(lat1, lon1, cos1, lat2, lon2, cos2, j)", "closer(a, b)",
      "index = a.j; distance = diameter * asin(sqrt(fmin(a.h, T(1))))", "pair{T(2), 0x7fffffffffffffffll}",
      "nearest_pair", {.reduce_type = "pair", .preamble = R"(struct pair { T h; long long j; };
__device__ inline pair pair_of(T lat1, T lon1, T cos1, T lat2, T lon2, T cos2, long long j) {
  const T u = sin((lat2 - lat1) / 2), v = sin((lon2 - lon1) / 2);
  return pair{u * u + cos1 * cos2 * (v * v), j};
}
__device__ inline pair closer(pair a, pair b) { return b.h < a.h || (b.h == a.h && b.j < a.j) ? b : a; })"});
  const auto lat1 = p(_, newaxis, 0), lat2 = q(_, 0);
  const auto j = sn::arange(q.shape(0), {.device = q.device()});
  const auto [index, distance] = nearest.outputs<2>(lat1, p(_, newaxis, 1), sn::cos(lat1), lat2, q(_, 1), sn::cos(lat2),
                                                    j, 2 * earth_radius_km, 1);
  return {index, distance};
}

rung rung_on(const sn::device& on, const std::string& missing) {
  const bool cpu = on.kind == sn::device_kind::cpu;
  return {"reduction", cpu ? "CPU" : "GPU", sn::to_string(on), missing, [on, cpu](const task& t) {
            const auto run = [&](const places& cities) { return search_arrays(cities, t, on, search); };
            return cpu ? search_some(t, run) : run(t.cities);
          }};
}

}  // namespace

std::vector<rung> reduction_rungs(const options& o) {
  if (!o.every_method()) return {rung_on(o.device.empty() ? sn::default_device() : sn::device(o.device), {})};
  return {rung_on(sn::cpu, {}), rung_on(gpu_of(o), why_no_gpu(o))};
}

}  // namespace nearest_neighbor
