// The library's own search, sn::spatial::knn: a tree of boxes over the airports' unit vectors, walked once for each city.
#include "ladder.hpp"
#include "sinter/spatial.hpp"

namespace nearest_neighbor {
namespace {

neighbours find_by_library(const ndarray& p, const ndarray& q) {
  using namespace sn::idx;
  const auto found = sn::spatial::knn(p, q, 1, {.metric = "haversine"});
  return {found.indices(_, 0), earth_radius_km * found.distances(_, 0)};
}

rung library_rung_on(const sn::device& on, const std::string& missing) {
  return {"library", "tree", sn::to_string(on), missing,
          [on](const task& t) { return search_arrays(t.cities, t, on, find_by_library); }};
}

}  // namespace

std::vector<rung> library_rungs(const options& o) {
  if (!o.every_method()) return {library_rung_on(o.device.empty() ? sn::default_device() : sn::device(o.device), {})};
  return {library_rung_on(sn::cpu, {}), library_rung_on(gpu_of(o), why_no_gpu(o))};
}

}  // namespace nearest_neighbor
