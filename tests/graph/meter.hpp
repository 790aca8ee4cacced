// What a program costs on the CPU or a simulated GPU, without a clock: the model's time of its launches and copies, and the peak
// of memory.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>

#include "backends/cpu/kernels/hooks.hpp"
#include "core/shape.hpp"
#include "graph/plan/plan.hpp"
#include "jit/program/launch.hpp"
#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"

namespace sinter::test {

struct spent {
  double cost = 0;             // in additions of an element
  std::uint64_t launches = 0;  // of kernels
  std::size_t peak = 0;        // bytes, above those in use at the beginning
};

/// Counts from its construction on. One at a time.
class meter {
 public:
  /// What a launch and the traffic of a byte take on the device that is measured, in additions: those of the planner.
  static graph::device_price price() { return graph::price_on(of_); }
  /// Whether launches on the default device can be observed: those of the CPU, and of a simulated GPU, which are the CPU's.
  static bool sees_launches() {
    runtime::backend& device = runtime::get_backend(runtime::default_device());
    return device.host_addressable() || device.identity() == "simulated";
  }

  explicit meter(runtime::device_id of = runtime::default_device()) : before_(cpu::set_launch_observer(&observe)) {
    of_ = of;
    operations() = 0;
    launched_ = device().statistics().launches;
    copied_ = copied_bytes();
    device().reset_peak();
    used_ = device().memory().used;
  }
  ~meter() { cpu::set_launch_observer(before_); }
  meter(const meter&) = delete;
  meter& operator=(const meter&) = delete;

  spent now() const {
    spent s;
    s.launches = device().statistics().launches - launched_;
    s.cost = operations() + 2 * price().byte * static_cast<double>(copied_bytes() - copied_);
    s.peak = device().memory().peak - used_;
    return s;
  }

 private:
  static runtime::backend& device() { return runtime::get_backend(of_); }
  static bool is_simulated() { return device().identity() == "simulated"; }
  static std::uint64_t copied_bytes() { return is_simulated() ? sim::copied_bytes() : cpu::copied_bytes(); }
  static std::atomic<double>& operations() {
    static std::atomic<double> sum{0};
    return sum;
  }
  static double elements(const jit::operand& o, const jit::launch& l) {
    double n = 1;
    for (int a = 0; a < l.extents.size() && a < o.strides.size(); ++a)
      if (o.strides[a] != 0 || o.gather_stride[0] != 0) n *= static_cast<double>(l.extents[a]);
    return n;
  }
  static void observe(const jit::launch& l) {
    const jit::program& p = *l.code;
    const graph::device_price price = meter::price();
    double cost = price.launch, kept = 1;
    for (int a = 0; a < l.kept; ++a) kept *= static_cast<double>(l.extents[a]);
    const double all = static_cast<double>(core::element_count(l.extents));
    for (std::size_t k = 0; k < p.code.size(); ++k) {
      const double times = (k >= p.epilogue && p.kind == jit::kernel_kind::reduce ? kept : all) *
                           static_cast<double>(p.is_in_loop(k) ? jit::loop_count(l) : 1);
      cost += times * jit::weight(p.code[k].op);
    }
    cost += all * static_cast<double>(p.reductions.size());
    std::map<const void*, double> read;  // several reads of one operand share its traffic
    for (std::size_t k = 0; k < l.inputs.size(); ++k) {
      double& bytes = read[l.inputs[k].base];
      bytes = std::max(bytes, elements(l.inputs[k], l) * static_cast<double>(itemsize(p.inputs[k].type)));
    }
    for (const auto& [base, bytes] : read) cost += price.byte * bytes;
    for (std::size_t k = 0; k < l.outputs.size(); ++k)
      cost += price.byte * elements(l.outputs[k], l) * static_cast<double>(itemsize(p.outputs[k].type));
    operations() += cost;
  }

  static inline runtime::device_id of_{};
  cpu::launch_observer before_;
  std::uint64_t launched_ = 0, copied_ = 0;
  std::size_t used_ = 0;
};

}  // namespace sinter::test
