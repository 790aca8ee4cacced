// What the rungs of the ladder share: which there are, devices, timing.
#include <algorithm>
#include <vector>

#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

struct method {
  const char* name;
  std::vector<rung> (*rungs)(const options&);
};

constexpr method methods[] = {{"loop", loop_rungs},
                              {"broadcast", broadcast_rungs},
                              {"elementwise", elementwise_rungs},
                              {"reduction", reduction_rungs},
                              {"two_kernel", two_kernel_rungs},
                              {"raw", raw_rungs},
                              {"knn", knn_rungs},
                              {"library", library_rungs},
                              {"multi_gpu", multi_gpu_rungs},
                              {"mesh", mesh_rungs}};

constexpr double patience = 4;  // seconds that a search on the CPU may take in a ladder

}  // namespace

std::string method_names() {
  std::string out;
  for (const auto& m : methods) out += std::string(m.name) + ", ";
  return out + "all";
}

bool is_method(const std::string& name) {
  return name == "all" ||
         std::any_of(std::begin(methods), std::end(methods), [&](const method& m) { return name == m.name; });
}

std::vector<rung> rungs_of(const options& o) {
  std::vector<rung> out;
  for (const auto& m : methods)
    if (o.method == m.name || o.every_method())
      for (auto& r : m.rungs(o)) out.push_back(std::move(r));
  return out;
}

sn::device gpu_of(const options& o) {
  const auto named = o.device.empty() ? sn::cuda(0) : sn::device(o.device);
  return named.kind == sn::device_kind::cuda ? named : sn::cuda(0);
}

std::string why_no_gpu(const options& o) {
  if (!o.device.empty() && sn::device(o.device).kind == sn::device_kind::cpu)
    return "--device " + o.device + " was asked for";
  try {
    sn::description(gpu_of(o));
    return {};
  } catch (const sn::device_error& e) {
    const std::string text = e.what();
    return text.substr(text.find("] ") == text.npos ? 0 : text.find("] ") + 2);  // without the function's name
  }
}

ndarray upload(const places& p, const sn::device& to) {
  return sn::array(p.radians.data(), {p.count(), 2}, {.device = to});
}

void time_search(const std::function<void()>& search, int repeat, timings& seconds) {
  const double first = seconds_of(search);
  std::vector<double> rest;
  double total = 0;
  for (int k = 0; k < repeat && total < 30; ++k) {
    rest.push_back(seconds_of(search));
    total += rest.back();
  }
  const auto middle = rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2);
  std::nth_element(rest.begin(), middle, rest.end());
  seconds.searching = *middle;
  seconds.compiling = std::max(0.0, first - seconds.searching);
}

outcome search_arrays(const places& cities, const task& t, const sn::device& on, const array_search& search) {
  outcome out;
  ndarray p, q;
  out.seconds.uploading = seconds_of([&] {
    p = upload(cities, on);
    q = upload(t.airports, on);
    sn::synchronize(on);
  });
  neighbours found;
  time_search(
      [&] {
        found = search(p, q);
        sn::eval(found.index, found.distance);
        sn::synchronize(on);
      },
      t.o.repeat, out.seconds);
  out.seconds.downloading = seconds_of([&] {
    out.found.index = found.index.to_vector<std::int64_t>();
    out.found.distance = found.distance.to_vector<float>();
  });
  return out;
}

outcome search_some(const task& t, const std::function<outcome(const places& some)>& search) {
  const std::int64_t all = t.cities.count(), few = 64;
  if (t.complete || all <= few) return search(t.cities);
  const auto tried = search(t.cities.every(all / few));
  const double rows = patience / (tried.seconds.searching / static_cast<double>(tried.rows()));
  if (rows >= static_cast<double>(all)) return search(t.cities);
  const auto step = static_cast<std::int64_t>(static_cast<double>(all) / std::max(rows, 1.0)) + 1;
  auto out = search(t.cities.every(step));
  out.step = step;
  return out;
}

}  // namespace nearest_neighbor
