// Streams and events of the CPU, where work is done when the call returns; and captured work.
#include "backends/cpu/stream.hpp"

#include <chrono>
#include <utility>

namespace sinter::cpu {
namespace {

class wall_event final : public runtime::event {
 public:
  void record(runtime::stream&) override { at_ = std::chrono::steady_clock::now(); }
  bool is_done() override { return true; }
  void synchronize() override {}
  void hold(runtime::stream&) override {}
  double seconds_since(runtime::event& begin) override {
    return std::chrono::duration<double>(at_ - static_cast<wall_event&>(begin).at_).count();
  }

 private:
  std::chrono::steady_clock::time_point at_;
};

}  // namespace

std::unique_ptr<runtime::event> make_event() { return std::make_unique<wall_event>(); }

void recorder::add(const runtime::prepared& p, const jit::launch& l, void* scratch) {
  auto step = std::make_unique<recorded_step>();
  step->code = *l.code;
  step->how = l;
  step->how.code = &step->code;
  step->prepared = &p;
  step->to = scratch;
  steps_.push_back(std::move(step));
}

void recorder::add(void* to, const void* from, std::size_t bytes) {
  auto step = std::make_unique<recorded_step>();
  step->to = to;
  step->from = from;
  step->bytes = bytes;
  steps_.push_back(std::move(step));
}

void recorder::add(std::function<void()> call, step_memory memory) {
  auto step = std::make_unique<recorded_step>();
  step->call = std::move(call);
  step->of_call = std::move(memory);
  steps_.push_back(std::move(step));
}

runtime::products& recorder::products_by(runtime::products& of) {
  if (!products_)
    products_.emplace(
        of, [this](std::function<void()> call, step_memory memory) { add(std::move(call), std::move(memory)); });
  return *products_;
}

runtime::solvers& recorder::solvers_by(runtime::solvers& of) {
  if (!solvers_) solvers_.emplace(of, [this](std::function<void()> call) { add(std::move(call)); });
  return *solvers_;
}

runtime::algorithms& recorder::algorithms_by(runtime::algorithms& of) {
  if (!algorithms_) algorithms_.emplace(of, [this](std::function<void()> call) { add(std::move(call)); });
  return *algorithms_;
}

std::unique_ptr<runtime::recorded_work> recorder::finish() {
  return make_recorded_list(owner(), std::exchange(steps_, {}));
}

}  // namespace sinter::cpu
