// The plain double loop over all pairs, as anyone would write it first: on one core, and on all of them.
#include <limits>

#include "common/cores.hpp"
#include "ladder.hpp"

namespace nearest_neighbor {
namespace {

void search_rows(const places& cities, const places& airports, std::int64_t begin, std::int64_t end, result& found) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float* p = &cities.radians[static_cast<std::size_t>(2 * i)];
    float best = std::numeric_limits<float>::infinity();
    std::int64_t where = 0;
    for (std::int64_t j = 0; j < airports.count(); ++j) {
      const float* q = &airports.radians[static_cast<std::size_t>(2 * j)];
      const float d = great_circle_km(p[0], p[1], q[0], q[1]);
      if (d < best) best = d, where = j;
    }
    found.index[static_cast<std::size_t>(i)] = where;
    found.distance[static_cast<std::size_t>(i)] = best;
  }
}

outcome search_on(int cores, const task& t) {
  return search_some(t, [&](const places& some) {
    outcome out;
    out.found.index.resize(static_cast<std::size_t>(some.count()));
    out.found.distance.resize(out.found.index.size());
    // Nothing is compiled while it runs, so the first search is as good as any.
    sn::progress bar(some.count(), {.name = "loop", .unit = "cities"});
    out.seconds.searching = seconds_of([&] {
      examples::on_cores(some.count(), 16, cores, [&](std::int64_t begin, std::int64_t end) {
        search_rows(some, t.airports, begin, end, out.found);
        bar.tick(end - begin);
      });
    });
    return out;
  });
}

}  // namespace

std::vector<rung> loop_rungs(const options&) {
  const int cores = examples::core_count();
  return {{"loop", "1 core", "cpu", {}, [](const task& t) { return search_on(1, t); }},
          {"loop", std::to_string(cores) + " cores", "cpu", cores > 1 ? "" : "there is one core",
           [cores](const task& t) { return search_on(cores, t); }}};
}

}  // namespace nearest_neighbor
