// The lines of search.hpp on a mesh of devices: rows of observations are sharded, the references are on all of them. GPUs of
// the process, processes under mpirun, or the CPU several times.
#include <algorithm>
#include <cstdio>

#include <sinter/dist.hpp>

#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

namespace dist = sn::dist;

bool on_cpu(const options& o) { return !o.device.empty() && sn::device(o.device).kind == sn::device_kind::cpu; }

dist::mesh mesh_of(int devices, const options& o) {
  if (!on_cpu(o) || sn::device_count(sn::device_kind::cuda) == 0) return dist::mesh({devices});
  return dist::mesh({devices}, {.devices = std::vector<sn::device>(static_cast<std::size_t>(devices), sn::cpu)});
}

outcome search_on(int devices, const places& cities, const task& t) {
  const sn::fast_math_guard fast(t.o.fast_math);
  const dist::mesh m = mesh_of(devices, t.o);
  outcome out;
  ndarray p, q;
  out.seconds.uploading = seconds_of([&] {
    p = dist::shard(upload(cities, sn::cpu), m, {dist::shard(0)});
    q = dist::shard(upload(t.airports, sn::cpu), m, {dist::replicate()});
  });
  neighbours found;
  time_search(
      [&] {
        found = find_nearest(p, q);
        sn::eval(found.index, found.distance);
        for (const ndarray& part : dist::local(found.distance)) sn::synchronize(part.device());
      },
      t.o.repeat, out.seconds);
  out.seconds.downloading = seconds_of([&] {
    out.found.index = found.index.to_vector<std::int64_t>();
    out.found.distance = found.distance.to_vector<float>();
  });
  return out;
}

outcome search_across(int devices, const task& t) {
  const auto search = [&](const places& cities) { return search_on(devices, cities, t); };
  return t.o.every_method() && (on_cpu(t.o) || sn::device_count(sn::device_kind::cuda) == 0) ? search_some(t, search)
                                                                                             : search(t.cities);
}

std::string why_not(const options& o, int devices) {
  const int there = sn::device_count(sn::device_kind::cuda);
  if (on_cpu(o) || there == 0 || devices <= there) return {};
  return "--devices " + std::to_string(devices) + ", but there are " + std::to_string(there);
}

}  // namespace

std::vector<rung> mesh_rungs(const options& o) {
  const int gpus = on_cpu(o) ? 0 : sn::device_count(sn::device_kind::cuda);
  const int devices = o.devices > 0 ? o.devices : std::max(1, gpus);
  return {{"mesh", std::to_string(devices) + (devices == 1 ? " device" : " devices"), gpus > 0 ? "cuda" : "cpu",
           why_not(o, devices), [devices](const task& t) { return search_across(devices, t); },
           gpus == 0 || !o.fast_math}};
}

}  // namespace nearest_neighbor
