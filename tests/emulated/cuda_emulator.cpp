// The coroutines of cuda_emulator.hpp.
#undef _FORTIFY_SOURCE  // its longjmp takes a jump to another stack for an attack
#include "emulated/cuda_emulator.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUDA_EMULATOR_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUDA_EMULATOR_SANITIZED 1
#endif
#endif

namespace cuda_emulator {

position here;
index3 grid_extent, block_extent;

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;
constexpr int warp_size = 32;

/// Threads that meet: `arrived` of `expected` wait, and all go on when the last one comes.
struct meeting {
  int arrived = 0;
  unsigned round = 0;
};

struct warp {
  meeting in, out;
  unsigned living = 0, votes = 0;
  unsigned char slots[warp_size][16];
};

/// ucontext makes the stack; from then on jumps change between them, which takes no system call.
struct thread {
  ucontext_t fresh;
  jmp_buf at;
  std::unique_ptr<char[]> stack;
  index3 index;
  bool started = false, done = false;
  const unsigned* waits_for = nullptr;  // a meeting's round, which must become another one than `round`
  unsigned round = 0;

  bool ready() const { return !done && (waits_for == nullptr || *waits_for != round); }
};

struct block_state {
  jmp_buf scheduler;
  std::vector<thread> threads;
  std::vector<warp> warps;
  meeting barrier;
  int living = 0;
  std::size_t running = 0;
  bool progress = false;
  const char* failure = nullptr;
  const std::function<void()>* kernel = nullptr;
};
block_state state;

void give_way() {
  if (_setjmp(state.threads[state.running].at) == 0) _longjmp(state.scheduler, 1);
}

void resume(std::size_t k) {
  auto& t = state.threads[k];
  state.running = k;
  here.thread = t.index;
  if (_setjmp(state.scheduler) != 0) return;
  if (t.started) _longjmp(t.at, 1);
  t.started = true;
  setcontext(&t.fresh);
}

void meet(meeting& m, int expected) {
  const unsigned round = m.round;
  if (++m.arrived == expected) {
    m.arrived = 0;
    ++m.round;
    return;
  }
  auto& t = state.threads[state.running];
  t.waits_for = &m.round;
  t.round = round;
  give_way();
  t.waits_for = nullptr;
}

warp& own_warp() { return state.warps[state.running / warp_size]; }

void enter() {
  (*state.kernel)();
  auto& t = state.threads[state.running];
  t.done = true;
  --state.living;
  own_warp().living &= ~(1u << lane());
  // The others may have been waiting for this one.
  if (state.living > 0 && state.barrier.arrived == state.living) {
    state.barrier.arrived = 0;
    ++state.barrier.round;
  }
  give_way();
}

void run_block() {
  state.barrier = {};
  state.living = static_cast<int>(state.threads.size());
  for (auto& w : state.warps) w = warp{};
  for (std::size_t k = 0; k < state.threads.size(); ++k) {
    auto& t = state.threads[k];
    state.warps[k / warp_size].living |= 1u << k % warp_size;
    t.started = t.done = false;
    t.waits_for = nullptr;
    getcontext(&t.fresh);
    t.fresh.uc_stack.ss_sp = t.stack.get();
    t.fresh.uc_stack.ss_size = stack_bytes;
    t.fresh.uc_link = nullptr;
    makecontext(&t.fresh, enter, 0);
  }
  while (state.living > 0 && state.failure == nullptr) {
    state.progress = false;
    for (std::size_t k = 0; k < state.threads.size() && state.failure == nullptr; ++k) {
      if (!state.threads[k].ready()) continue;
      state.progress = true;
      resume(k);
    }
    if (!state.progress && state.failure == nullptr) state.failure = "threads wait for each other at different places";
  }
}

}  // namespace

bool available() {
#ifdef CUDA_EMULATOR_SANITIZED
  return false;
#else
  return true;
#endif
}

int lane() { return static_cast<int>(state.running % warp_size); }

void fail(const char* what) {
  if (state.failure == nullptr) state.failure = what;
  while (true) give_way();  // never resumed
}

void block_barrier() { meet(state.barrier, state.living); }

const void* exchange(unsigned mask, const void* own, std::size_t bytes, int from) {
  warp& w = own_warp();
  if ((mask >> lane() & 1) == 0) fail("a thread takes part in an exchange whose mask does not name it");
  if ((mask & ~w.living) != 0) fail("an exchange names a thread that has left");
  const int expected = __builtin_popcount(mask);
  meet(w.in, expected);  // everybody has read what the last exchange left
  std::memcpy(w.slots[lane()], own, bytes);
  meet(w.out, expected);
  return w.slots[from];
}

unsigned vote(unsigned mask, bool predicate) {
  unsigned votes = 0;
  // 32 exchanges would be slow: one byte of each lane, read side by side.
  const unsigned char own = predicate;
  (void)exchange(mask, &own, 1, lane());
  const warp& w = own_warp();
  for (int k = 0; k < warp_size; ++k)
    if (mask >> k & 1) votes |= static_cast<unsigned>(w.slots[k][0] & 1) << k;
  return votes;
}

const char* launch(index3 grid, index3 block, const std::function<void()>& kernel) {
  const std::size_t count = std::size_t{block.x} * block.y * block.z;
  state.failure = nullptr;
  state.kernel = &kernel;
  state.threads.resize(count);
  state.warps.resize((count + warp_size - 1) / warp_size);
  for (std::size_t k = 0; k < count; ++k) {
    auto& t = state.threads[k];
    if (!t.stack) t.stack = std::make_unique<char[]>(stack_bytes);
    const auto at = static_cast<unsigned>(k);
    t.index = {at % block.x, at / block.x % block.y, at / block.x / block.y};
  }
  grid_extent = grid;
  block_extent = block;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x && state.failure == nullptr; ++x) {
        here.block = {x, y, z};
        run_block();
      }
  return state.failure == nullptr ? "" : state.failure;
}

}  // namespace cuda_emulator
