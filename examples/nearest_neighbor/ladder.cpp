// All methods one after the other: the table, and the check of each against the others.
#include "ladder.hpp"

#include <algorithm>
#include <cstdio>

#include "check.hpp"

namespace nearest_neighbor {
namespace {

std::string title(const rung& r) { return r.method + ", " + r.variant + " on " + r.device; }

struct line {
  const rung* r;
  outcome found;
  double seconds;  // of all cities
};

double pairs_per_second(const line& l, const task& t) {
  return static_cast<double>(t.cities.count()) * static_cast<double>(t.airports.count()) / l.seconds;
}

void print_table(const std::vector<line>& lines, const std::vector<verdict>& verdicts, const task& t) {
  std::printf("\n%-11s %-10s %-8s %12s  %10s %12s %9s %9s\n", "method", "", "device", "seconds", "pairs/s",
              "x the loop", "other", "worst m");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const auto& l = lines[k];
    std::printf("%-11s %-10s %-8s %12.6f%s %10.3g %12.4g %9lld %9.3f\n", l.r->method.c_str(), l.r->variant.c_str(),
                l.r->device.c_str(), l.seconds, l.found.step > 1 ? "*" : " ", pairs_per_second(l, t),
                lines[0].seconds / l.seconds, static_cast<long long>(verdicts[k].other), 1e3 * verdicts[k].worst_km);
  }
  std::printf(
      "\nother: cities for which it names another airport than the loop; worst: how much farther than the nearest\n");
  for (const auto& l : lines)
    if (l.found.step > 1)
      std::printf("* %s: %s of %s cities, one in %lld; its seconds are extrapolated to all\n", title(*l.r).c_str(),
                  grouped(l.found.rows()).c_str(), grouped(t.cities.count()).c_str(),
                  static_cast<long long>(l.found.step));
}

}  // namespace

outcome run_rung(const rung& r, const task& t) {
  auto out = r.run(t);
  if (out.step > 1)
    std::printf("%-12s %s of %s cities, one in %lld: all would take about %.0f s\n", "rows",
                grouped(out.rows()).c_str(), grouped(t.cities.count()).c_str(), static_cast<long long>(out.step),
                out.seconds.searching * static_cast<double>(out.step));
  out.seconds.reading = t.reading;
  print_timings(out.seconds, out.rows(), t.airports.count(), t.o.repeat);
  return out;
}

bool run_ladder(const std::vector<rung>& rungs, const task& t) {
  std::vector<line> lines;
  sn::progress bar(static_cast<std::int64_t>(rungs.size()), {.name = "ladder", .unit = "methods"});
  for (const auto& r : rungs) {
    bar.tick();
    if (!r.missing.empty()) continue;
    line l{&r, r.run(t), 0};
    l.seconds = l.found.seconds.searching * static_cast<double>(t.cities.count()) / static_cast<double>(l.found.rows());
    lines.push_back(std::move(l));
  }
  std::vector<answer> answers;
  for (const auto& l : lines) answers.push_back({&l.found.found, l.found.step, l.r->exact ? 1e-3 : fast_math_km});
  const auto verdicts = compare(t.cities, t.airports, answers);
  print_table(lines, verdicts, t);
  for (const auto& r : rungs)
    if (!r.missing.empty()) std::printf("left out: %s: %s\n", title(r).c_str(), r.missing.c_str());
  bool good = true;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (verdicts[k].failure.empty()) continue;
    std::printf("WRONG: %s: %s\n", title(*lines[k].r).c_str(), verdicts[k].failure.c_str());
    good = false;
  }
  if (!good) return false;
  std::printf(
      "checked: %zu methods agree with each other, and with float64 on a sample: to 1 m or 1e-5 of the distance",
      lines.size());
  if (std::any_of(lines.begin(), lines.end(), [](const line& l) { return !l.r->exact; }))
    std::printf(" (by fast math: 20 m)");
  std::printf("\n");
  return true;
}

}  // namespace nearest_neighbor
