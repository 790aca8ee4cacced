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

class recorded_list final : public runtime::recorded_work {
 public:
  recorded_list(runtime::backend& device, recorded_steps steps) : device_(device), steps_(std::move(steps)) {}
  void launch() override {
    for (const auto& s : steps_) {
      if (s->prepared) device_.run(*s->prepared, s->how, s->to);
      else device_.copy(s->to, s->from, s->bytes);
    }
  }
  std::size_t size() const override { return steps_.size(); }

 private:
  runtime::backend& device_;
  recorded_steps steps_;
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

std::unique_ptr<runtime::recorded_work> recorder::finish() {
  return std::make_unique<recorded_list>(owner(), std::exchange(steps_, {}));
}

}  // namespace sinter::cpu
