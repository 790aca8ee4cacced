// Streams and events of the CPU, where work is done when the call returns; and captured work.
#pragma once
#include <memory>
#include <vector>

#include "runtime/backend.hpp"

namespace sinter::cpu {

class cpu_stream : public runtime::stream {
 public:
  cpu_stream(runtime::backend& owner, int number) : stream(owner, number, true) {}
};

std::unique_ptr<runtime::event> make_event();

/// A launch or a copy, with everything that it needs.
struct recorded_step {
  jit::program code;
  jit::launch how;
  const runtime::prepared* prepared = nullptr;  // null: a copy
  void* to = nullptr;                           // scratch memory of a launch
  const void* from = nullptr;
  std::size_t bytes = 0;
};
using recorded_steps = std::vector<std::unique_ptr<const recorded_step>>;

/// A stream whose work is captured.
class recorder final : public cpu_stream {
 public:
  using cpu_stream::cpu_stream;
  void add(const runtime::prepared& p, const jit::launch& l, void* scratch);
  void add(void* to, const void* from, std::size_t bytes);
  std::unique_ptr<runtime::recorded_work> finish();
  void clear() noexcept { steps_.clear(); }

 private:
  recorded_steps steps_;
};

}  // namespace sinter::cpu
