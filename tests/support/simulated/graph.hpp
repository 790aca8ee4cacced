// Captured work of a simulated GPU (simulated_gpu.hpp): what it launches again, and steps of loops that it runs by itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/repeating_work.hpp"
#include "runtime/stepping_work.hpp"

namespace sim {

namespace runtime = sinter::runtime;

struct mark {
  std::atomic<bool> reached = false;
};
using mark_ref = std::shared_ptr<mark>;

/// Something that a stream does when its turn comes: wait for a mark, work, reach a mark.
struct step {
  mark_ref needs;
  std::function<void()> work;
  mark_ref reaches;
};

class sim_graph final : public runtime::repeating_work, public runtime::stepping_work {
 public:
  /// push: onto the current stream. repeats: whether the driver has graphs with a condition.
  sim_graph(std::vector<step> steps, std::function<void(step)> push, bool repeats)
      : steps_(std::move(steps)), push_(std::move(push)), repeats_(repeats) {}
  void launch() override {
    for (const step& s : steps_) push_(s);
  }
  bool launch_while(const void* go_on) override {
    if (!repeats_) return false;
    const auto again = [steps = steps_, go_on] {
      while (*static_cast<const bool*>(go_on))
        for (int k = 0; k < 8; ++k) run_all(steps);
    };
    push_({nullptr, again, nullptr});
    return true;
  }
  std::size_t room_for(const runtime::step_sequence&) const override { return sizeof(std::int64_t); }
  /// As the device does it: what is taken and moved is copied in any order, here the one that overwrites places first, the
  /// condition is read at any time meanwhile, here when all is copied, and steps beyond the end fill up eights.
  void launch_steps(const runtime::step_sequence& all, void* room) override {
    const auto loop = [steps = steps_, all, room] {
      std::int64_t& step = *static_cast<std::int64_t*>(room);
      const auto ends = [&] { return all.steps < 0 ? !*static_cast<const bool*>(all.again) : step + 1 == all.steps; };
      for (step = 0;; ++step) {
        run_all(steps);
        copy_after(step, all.aside);
        if (!ends()) copy_after(step, all.taken);
        copy_after(step, all.moved);
        if (ends()) break;
        if (all.number) ++*all.number;
      }
      for (std::int64_t k = step + 1; all.steps < 0 && k % 8 != 0; ++k) run_all(steps);
    };
    push_({nullptr, loop, nullptr});
  }
  std::size_t size() const override { return steps_.size(); }

 private:
  static void run_all(const std::vector<step>& steps) {
    for (const step& s : steps)
      if (s.work) s.work();
  }
  static void copy_after(std::int64_t step, const std::vector<runtime::step_copy>& copies) {
    for (auto c = copies.rbegin(); c != copies.rend(); ++c)
      if (c->bytes != 0)
        std::memcpy(static_cast<char*>(c->to) + step * c->to_stride,
                    static_cast<const char*>(c->from) + step * c->from_stride, c->bytes);
  }
  std::vector<step> steps_;
  std::function<void(step)> push_;
  bool repeats_;
};

}  // namespace sim
