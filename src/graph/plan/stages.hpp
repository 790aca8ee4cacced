// Kernels that go over the same rows, joined into one that reads them once: a reduction of rows, what is computed from
// its results for each element, a reduction of that, and so on.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "graph/plan/plan.hpp"

namespace sinter::graph {

/// Joins kernels of a plan, which are in an order in which they may run, as far as the device keeps such rows on chip.
/// Takes time linear in their number. Whatever is `wanted` outside of the plan is stored.
void join_stages(std::vector<std::unique_ptr<kernel_plan>>& kernels, const runtime::backend& device,
                 const std::function<bool(const node*)>& wanted);

}  // namespace sinter::graph
