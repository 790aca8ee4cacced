// An elementwise kernel from text: one loop over the references for each point, the same text on the CPU and on a GPU.
#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

using namespace sn::idx;

neighbours search(const ndarray& p, const ndarray& q) {
  // The references' coordinates are raw: whole arrays, read by index. What depends on one point alone is computed once,
  // by expressions that become part of the kernel (the point's) or run before it (the references').
  static const sn::elementwise_kernel nearest(
      "T lat, T lon, T cos_lat, raw T lats, raw T lons, raw T coses, T diameter", "int64 index, T distance",
      R"(T low = 2;
index = 0;
for (long long j = 0; j < lats.size(); ++j) {
  const T u = sin((lats[j] - lat) / 2), v = sin((lons[j] - lon) / 2);
  const T h = u * u + cos_lat * coses[j] * (v * v);
  if (h < low) {
    low = h;
    index = j;
  }
}
distance = diameter * asin(sqrt(fmin(low, T(1))));)",
      "nearest_of_all");
  const auto lat = p(_, 0);
  const auto [index, distance] =
      nearest.outputs<2>(lat, p(_, 1), sn::cos(lat), q(_, 0), q(_, 1), sn::cos(q(_, 0)), 2 * earth_radius_km);
  return {index, distance};
}

rung rung_on(const sn::device& on, const std::string& missing) {
  const bool cpu = on.kind == sn::device_kind::cpu;
  return {"elementwise", cpu ? "CPU" : "GPU", sn::to_string(on), missing, [on, cpu](const task& t) {
            const auto run = [&](const places& cities) { return search_arrays(cities, t, on, search); };
            return cpu ? search_some(t, run) : run(t.cities);
          }};
}

}  // namespace

std::vector<rung> elementwise_rungs(const options& o) {
  if (!o.every_method()) return {rung_on(o.device.empty() ? sn::default_device() : sn::device(o.device), {})};
  return {rung_on(sn::cpu, {}), rung_on(gpu_of(o), why_no_gpu(o))};
}

}  // namespace nearest_neighbor
