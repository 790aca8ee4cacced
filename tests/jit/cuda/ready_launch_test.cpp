// Launches that recur on other arrays: the parameters that are kept and written over are those that would be made anew.
#include <doctest/doctest.h>

#ifdef SINTER_HAS_CUDA

#include "backends/cpu/kernels/hooks.hpp"
#include "backends/cuda/ready_launch.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "sinter/sinter.hpp"

// Inside, since there is a kind of device of this name, too.
namespace sinter::cuda {

using namespace sinter::idx;

namespace {

int seen_launches = 0;

std::vector<std::uint64_t> made(const jit::launch& recorded, std::vector<pointer_word>& pointers, int* fault,
                                void* scratch, ready_launch* note = nullptr) {
  jit::launch plain;
  const jit::launch& l = lowered(recorded, plain);
  kernel k;
  classify(l, k.variant);
  k.layout = jit::cuda_layout(*l.code, k.variant);
  std::vector<std::uint64_t> words(parameter_capacity / 8);
  pointers.clear();
  const call c = build_call(l, k.variant, k.layout, 132, fault, scratch, words.data(), 0, &pointers);
  words.resize((jit::cuda_layout_bytes(*l.code, k.layout) + 7) / 8);
  static const kernel code;
  if (note) note->note(recorded, l, code, c, words, pointers);
  return words;
}

/// Each array elsewhere, as far from where it was as `step` says, but as it was aligned.
void move(jit::launch& l, std::uintptr_t step) {
  for (auto* operands : {&l.inputs, &l.outputs})
    for (jit::operand& o : *operands)
      o.base =
          reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(o.base) * 3 % (std::uintptr_t{1} << 40) / 256 * 256 +
                                  step * 256 + reinterpret_cast<std::uintptr_t>(o.base) % 256);
}

void check_kept(const jit::launch& recorded) {
  ++seen_launches;
  int faults[2] = {};
  std::vector<pointer_word> pointers;
  ready_launch ready;
  CHECK_FALSE(ready.fits(recorded));
  made(recorded, pointers, &faults[0], &faults[0], &ready);
  REQUIRE(ready.fits(recorded));
  jit::launch l = recorded;
  for (std::uintptr_t step = 1; step < 4; ++step) {
    move(l, step);
    REQUIRE(ready.fits(l));
    const std::vector<std::uint64_t> wanted = made(l, pointers, &faults[1], &faults[step % 2]);
    const auto words = ready.words(l, &faults[1], &faults[step % 2]);
    CHECK(std::vector<std::uint64_t>(words.begin(), words.end()) == wanted);
  }
  jit::launch other = l;
  if (!other.inputs.empty()) {
    other.inputs[0].offset += 1;
    CHECK_FALSE(ready.fits(other));
    other = l;
    other.inputs[0].base = static_cast<char*>(other.inputs[0].base) + 16;
    CHECK_FALSE(ready.fits(other));
    other = l;
    if (other.inputs[0].base != other.outputs[0].base) {
      other.inputs[0].base = other.outputs[0].base;
      CHECK_FALSE(ready.fits(other));
    }
  }
  other = l;
  if (!other.params.empty()) {
    other.params[0].u += 1;
    other.params[0].f[1] += 1;
    if (!is_bool(other.params[0].type)) CHECK_FALSE(ready.fits(other));
  }
}

struct observing {
  cpu::launch_observer before = cpu::set_launch_observer(check_kept);
  ~observing() { cpu::set_launch_observer(before); }
};

}  // namespace

TEST_CASE("recurring launches on other arrays have the parameters that they would be given anew") {
  const device_guard on(device("cpu"));
  const auto numbers = [](const shape_t& shape, std::int64_t n, dtype type, int factor) {
    return reshape(arange(n) * factor % 101, shape).astype(type);
  };
  const ndarray x = numbers({60, 70}, 4200, float32, 7), y = numbers({60, 70}, 4200, float32, 11),
                i = numbers({50}, 50, int64, 3) % 60, p = numbers({40, 50, 3}, 6000, uint8, 5);
  eval(x, y, i, p);
  seen_launches = 0;
  {
    const observing each;
    eval(x * y + 2.5f, x - y(_, slice(0, 1)));
    eval(roll(x, 3, 1) + roll(x, -2, 0) * 0.5f);
    eval(sum(x * y, 1), max(x + 1, 0), var(x, 0));
    eval(take(x, i, 0) - mean(x));
    eval(transpose(p, axes{2, 0, 1}).astype(float32) / 255.0f);
    eval(x(slice(1, 60)) - x(slice(0, 59)));
    eval(sum((x(_, newaxis) - y(newaxis)) * x(_, newaxis), 2));
    eval(where(x > y, x, exp(y)), argmax(x, 1));
  }
  CHECK(seen_launches > 10);
}

}  // namespace sinter::cuda

#endif
