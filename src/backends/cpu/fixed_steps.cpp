#include "backends/cpu/fixed_steps.hpp"

#include <unordered_set>

#include "backends/cpu/kernels/hooks.hpp"

namespace sinter::cpu {
namespace {

/// Launches before which functions are not even looked for; work of a launch besides its lanes, in instructions of a lane.
constexpr std::uint64_t least_launches = 64, work_besides = 1000;
/// How many times the work that pays for a block function pays for starting the compiler, and for how many functions the same
/// again.
constexpr std::uint64_t share = 4, functions_of_share = 8;

}  // namespace

void fixed_steps::find(const recorded_steps& steps) {
  found_ = true;
  fixed_.resize(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const recorded_step& s = *steps[k];
    if (!s.prepared || s.moves || may_fail(s.code)) continue;
    fixed_code* const code = find_fixed_code(s.how);
    if (!code) continue;
    fixed& f = fixed_[k];
    f.code = code;
    f.params = std::make_unique<param_block>(s.how);
    f.addresses = addresses_of(s.how, *f.params);
    const auto lanes = static_cast<std::uint64_t>(lanes_of_work(core::element_count(s.how.extents)));
    work_of_launch_ += work_besides + lanes * (s.code.code.size() + 1);
  }
}

void fixed_steps::take() {
  if (all_taken_) return;
  all_taken_ = true;
  std::vector<step> all(fixed_.size());
  for (std::size_t k = 0; k < fixed_.size(); ++k) {
    const fixed& f = fixed_[k];
    if (!f.code) continue;
    all[k] = {f.code->function(), f.addresses.data(), f.code->operations()};
    if (!all[k].run) all_taken_ = false;
  }
  steps_ = std::move(all);
}

void fixed_steps::count(const recorded_steps& steps, std::uint64_t launches) {
  const tier t = get_tier();
  work_ += launches;
  if (t == tier::interpreted || (!found_ && t == tier::automatic && work_ < least_launches)) return;
  if (!found_) {
    find(steps);
    work_ *= work_of_launch_;
    take();
  } else {
    work_ += launches * (work_of_launch_ - 1);
  }
  if (all_taken_) return;
  std::vector<compiled_code*> wanted;  // in the order of the list, so that the text is found again
  std::unordered_set<const fixed_code*> seen;
  for (const fixed& f : fixed_)
    if (f.code && f.code->is_cold() && seen.insert(f.code).second) wanted.push_back(f.code);
  const std::uint64_t shares = share * (1 + wanted.size() / functions_of_share);
  if (!wanted.empty() && (t == tier::compiled || work_ >= shares * tier_threshold())) compile_blocks(wanted);
  take();
}

}  // namespace sinter::cpu
