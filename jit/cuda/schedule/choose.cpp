// The choice among the schedules that are considered, and the legal ones for tests.
#include "jit/cuda/schedule/choose.hpp"

#include <algorithm>
#include <atomic>

#include "jit/cuda/schedule/legal.hpp"
#include "jit/hooks.hpp"
#include "jit/program/rewrite/common_factor.hpp"
#include "jit/program/rewrite/wrapped_reads.hpp"
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

/// Under fast_math: reductions over columns, whose operands depend on the row or on the column.
const launch& without_common_factors(const launch& l, launch& to) {
  if (l.kept != 1 || l.extents.size() != 2 || l.inputs.size() > 64) return l;
  std::uint64_t rows = 0;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const bool over_rows = l.inputs[k].strides[0] != 0, over_columns = l.inputs[k].strides[1] != 0;
    if (over_rows && over_columns) return l;
    if (over_rows) rows |= std::uint64_t{1} << k;
  }
  const jit::program& code = jit::without_common_factors(*l.code, rows);
  if (&code == l.code) return l;
  to = l;
  to.code = &code;
  return to;
}

}  // namespace

const launch& lowered(const launch& l, launch& to) {
  if (l.code->flags.fast_math && l.code->kind == jit::kernel_kind::reduce) return without_common_factors(l, to);
  if (l.code->kind != jit::kernel_kind::elementwise || !jit::has_gathers(*l.code)) return l;
  const std::vector<jit::shifted_input> shifted = jit::shifted_inputs(l);
  if (shifted.empty()) return l;
  jit::unwrap(l, shifted, to);
  to.memo = l.memo;
  return to;
}

void classify(const launch& l, cuda_variant& v) {
  if (const int number = forced.load(std::memory_order_relaxed); number >= 0) [[unlikely]]
    return take_forced(l, number, v);
  variant_list& among = platform::per_thread<variant_list, variant_list>::get();
  add_schedules(l, extent_of_search::considered, among);
  std::swap(v, among[choose(l, among)]);
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
