// The choice among the schedules that are considered, and the legal ones for tests.
#include "jit/cuda/schedule/choose.hpp"

#include <algorithm>
#include <atomic>

#include "jit/cuda/schedule/legal.hpp"
#include "jit/hooks.hpp"
#include "platform/per_thread.hpp"

namespace sinter::cuda {
namespace {

using jit::cuda_variant;
using jit::launch;

std::atomic<int> forced{-1}, most{0};

void take_forced(const launch& l, int number, cuda_variant& v) {
  variant_list all;
  add_schedules(l, extent_of_search::all, all);
  const int count = static_cast<int>(all.size());
  for (int seen = most.load(); seen < count && !most.compare_exchange_weak(seen, count);) {
  }
  v = all[static_cast<std::size_t>(std::min(number, count - 1))];
}

/// The number of the one to take.
std::size_t choose(const launch& l, const variant_list& among) {
  std::size_t best = 0;
  if (among.size() == 1) return best;
  double least = time_of(work_of(l, among[0])).microseconds;
  for (std::size_t k = 1; k < among.size(); ++k) {
    const double time = time_of(work_of(l, among[k])).microseconds;
    if (time >= clearly_cheaper * least) continue;
    best = k;
    least = time;
  }
  return best;
}

/// Those that are considered leave out what does not pay where it was measured. Where their best is estimated to take several times
/// what its memory and its instructions do, all others are compared.
void look_further(const launch& l, cuda_variant& v) {
  constexpr double several = 4, far_cheaper = 0.5;
  const device_figures& d = reference_device;
  const jit::work w = work_of(l, v, d);
  const double memory = w.memory / d.memory, instructions = w.instructions / (d.multiprocessors * d.clock * d.lanes);
  double least = time_of(w, d).microseconds;
  if (least < several * (d.launch + std::max(memory, instructions))) return;
  least *= far_cheaper;
  variant_list all;
  add_schedules(l, extent_of_search::all, all);
  std::size_t best = all.size();
  for (std::size_t k = 0; k < all.size(); ++k)
    if (const double time = time_of(work_of(l, all[k])).microseconds; time < least) best = k, least = time;
  if (best != all.size()) std::swap(v, all[best]);
}

}  // namespace

void classify(const launch& l, cuda_variant& v) {
  if (const int number = forced.load(std::memory_order_relaxed); number >= 0) [[unlikely]]
    return take_forced(l, number, v);
  variant_list& among = platform::per_thread<variant_list, variant_list>::get();
  add_schedules(l, extent_of_search::considered, among);
  std::swap(v, among[choose(l, among)]);
  look_further(l, v);
}

std::vector<cuda_variant> legal_schedules(const launch& l) {
  variant_list all;
  add_schedules(l, extent_of_search::all, all);
  std::vector<cuda_variant> out;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::string name = schedule_name(l, all[k]);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(std::move(name));
    out.push_back(all[k]);
  }
  return out;
}

bool schedules_are_forced() noexcept { return forced.load(std::memory_order_relaxed) >= 0; }
void force_schedule(int number) noexcept { forced = number; }
int most_schedules() noexcept { return most.exchange(0); }

}  // namespace sinter::cuda
