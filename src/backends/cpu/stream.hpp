// Streams and events of the CPU, where work is done when the call returns; and captured work.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/algorithms/recorded_algorithms.hpp"
#include "backends/cpu/constant_steps.hpp"
#include "backends/cpu/linalg/recorded_products.hpp"
#include "backends/cpu/linalg/recorded_solvers.hpp"
#include "runtime/backend.hpp"
#include "runtime/recording_stream.hpp"

namespace sinter::cpu {

class cpu_stream : public runtime::stream {
 public:
  cpu_stream(runtime::backend& owner, int number) : stream(owner, number, true) {}
};

std::unique_ptr<runtime::event> make_event();

/// A launch, a copy or the call of a library, with everything that it needs.
struct recorded_step {
  jit::program code;
  jit::launch how;
  const runtime::prepared* prepared = nullptr;  // null: no launch
  void* to = nullptr;                           // scratch memory of a launch
  const void* from = nullptr;
  std::size_t bytes = 0;
  std::function<void()> call;  // of a library; else empty
  step_memory of_call{};       // what it reads and writes, where that is known
  bool moves = false;          // other memory in each launch (moved_places.hpp)
};
using recorded_steps = std::vector<std::unique_ptr<recorded_step>>;

/// Whether a program may find a fault in its data, which the backend records.
bool may_fail(const jit::program& p);

std::unique_ptr<runtime::recorded_work> make_recorded_list(runtime::backend& device, recorded_steps steps);

/// A stream whose work is captured.
class recorder final : public cpu_stream, public runtime::recording_stream {
 public:
  using cpu_stream::cpu_stream;
  void add(const runtime::prepared& p, const jit::launch& l, void* scratch);
  void add(void* to, const void* from, std::size_t bytes);
  void add(std::function<void()> call) override { add(std::move(call), {}); }
  void add(std::function<void()> call, step_memory memory);
  std::unique_ptr<runtime::recorded_work> finish();
  void clear() noexcept { steps_.clear(); }
  /// The products, factorisations and additions by position of a capture: they are recorded, and computed by `of` in each
  /// launch.
  runtime::products& products_by(runtime::products& of);
  runtime::solvers& solvers_by(runtime::solvers& of);
  runtime::algorithms& algorithms_by(runtime::algorithms& of);

 private:
  recorded_steps steps_;
  std::optional<recorded_products> products_;
  std::optional<recorded_solvers> solvers_;
  std::optional<recorded_algorithms> algorithms_;
};

/// Launches of captured work that were run without the backend's part in it.
std::uint64_t repeated_launches() noexcept;

}  // namespace sinter::cpu
