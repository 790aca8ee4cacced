// The library's calls.
#include "groups.hpp"

#include <chrono>
#include <sinter/cluster.hpp>
#include <sinter/sinter.hpp>
#include <sinter/spatial.hpp>

#include "nearest_neighbor/great_circle.hpp"

namespace clusters {
namespace {

namespace sn = sinter;
using namespace sn::idx;
using nearest_neighbor::earth_radius_km;
using sn::ndarray;

ndarray angles_of(const places& p) { return sn::array(p.radians.data(), {p.count(), 2}, {.dtype = sn::float64}); }
ndarray on_sphere(const ndarray& angles) {
  const ndarray lat = angles(_, 0), lon = angles(_, 1);
  return sn::stack({sn::cos(lat) * sn::cos(lon), sn::cos(lat) * sn::sin(lon), sn::sin(lat)}, 1);
}

template <class F>
double seconds_of(const F& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::int64_t> grouping::sizes() const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (const std::int64_t label : labels)
    if (label >= 0) ++out[static_cast<std::size_t>(label)];
  return out;
}

grouping dense_regions(const places& p, double km, std::int64_t least) {
  grouping out;
  out.seconds = seconds_of([&] {
    const auto found =
        sn::cluster::dbscan(angles_of(p), km / earth_radius_km, {.min_samples = least, .metric = "haversine"});
    out.labels = found.labels.to_vector<std::int64_t>();
    out.count = found.n_clusters;
  });
  return out;
}

parts_of_sphere divide(const places& p, std::int64_t k, std::int64_t seed) {
  parts_of_sphere out;
  out.count = k;
  out.seconds = seconds_of([&] {
    const ndarray angles = angles_of(p), x = on_sphere(angles);
    const auto found = sn::cluster::kmeans(x, k, {.n_init = 4, .random_state = seed});
    const ndarray c = found.cluster_centers;
    const ndarray centers =
        sn::stack({sn::arctan2(c(_, 2), sn::hypot(c(_, 0), c(_, 1))), sn::arctan2(c(_, 1), c(_, 0))}, 1);
    // The nearest centre on the sphere, since that of the means inside of it may be another one.
    const auto nearest = sn::spatial::knn(angles, centers, 1, {.metric = "haversine"});
    out.labels = nearest.indices.to_vector<std::int64_t>();
    out.mean_km = earth_radius_km * sn::mean(nearest.distances).item<double>();
    out.centers = centers.to_vector<float>();
  });
  return out;
}

}  // namespace clusters
