// Checked mode as a GPU runs it, thread by thread on the CPU: generated CUDA kernels of users' functions report the
// first index out of range, and do not touch other memory.
#ifdef SINTER_HAS_CUDA

#include <cstring>

#include "emulated/cuda_as_host.hpp"
#include "graph/plan/bind.hpp"
#include "jit/cpu/compile_host.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/program/index_check.hpp"
#include "runtime/backend.hpp"
#include "support/fresh_cache.hpp"
#include "support/users/functions.hpp"

using namespace user_test;
using sinter_test::no_compiler;
namespace cuda = sinter::cuda;

namespace {

constexpr dtype f32 = dtype::f32, i64 = dtype::i64;
constexpr runtime::device_id cpu{};

struct index3 {
  unsigned x, y, z;
};
struct position3 {
  index3 thread, block;
};
/// Kernels of elements ask for their position only.
struct device_calls {
  const position3* here;
  const index3 *block, *grid;
  const void* (*exchange)(unsigned, const void*, std::size_t, int) = nullptr;
  int (*lane)() = nullptr;
  void (*barrier)() = nullptr;
};

using kernel_call = void (*)(const void* parameters);

void run_threads(const cuda::grid& g, void (*connect)(const device_calls*), kernel_call call, const void* parameters) {
  const index3 block{g.block_x, g.block_y, 1}, grid{g.x, g.y, g.z};
  position3 here{};
  const device_calls calls{&here, &block, &grid};
  connect(&calls);
  for (here.block.y = 0; here.block.y < grid.y; ++here.block.y)
    for (here.block.x = 0; here.block.x < grid.x; ++here.block.x)
      for (here.thread.y = 0; here.thread.y < block.y; ++here.thread.y)
        for (here.thread.x = 0; here.thread.x < block.x; ++here.thread.x) call(parameters);
}

/// The kernel of a call whose operands lie in memory, run on the CPU; what it says of an index, or "none".
std::string fault_of(const value& root) {
  std::string told = "none";
  graph::planner planner;
  std::vector<value> roots{root};
  planner.plan(roots);
  REQUIRE(planner.kernels().size() >= 1);
  for (const auto& plan : planner.kernels()) {
    if (plan->code.calls.empty()) continue;
    jit::launch l;
    graph::bind(*plan, l);
    for (std::size_t k = 0; k < l.inputs.size(); ++k) {
      const graph::node& leaf = *plan->inputs[k].source;
      l.inputs[k].base = static_cast<float*>(leaf.buffer->data()) + leaf.buffer_offset;
    }
    std::vector<std::vector<float>> results;
    results.reserve(l.outputs.size());
    for (auto& o : l.outputs) o.base = results.emplace_back(1024).data();
    jit::cuda_variant v;
    cuda::classify(l, v);
    CHECK(l.code->flags.check_index);
    alignas(16) std::uint64_t parameters[256];
    const auto layout = jit::cuda_layout(*l.code, v);
    REQUIRE(jit::cuda_layout_bytes(*l.code, layout) <= sizeof parameters);
    int fault[jit::fault_words] = {};
    const cuda::call c = cuda::build_call(l, v, layout, 1, fault, nullptr, parameters);
    const std::string name = jit::cuda_kernel_name(*l.code, v);
    const std::string source = cuda_as_host_for_users() + jit::cuda_module({l.code}, jit::emit_cuda(*l.code, v)) +
                               "extern \"C\" void call(const void* p) { " + name + "(*(const " + name +
                               "_::args*)p); }\n";
    const std::vector<void*> found = jit::compile_host(source, {"connect", "call"});
    run_threads(c.first, reinterpret_cast<void (*)(const device_calls*)>(found[0]),
                reinterpret_cast<kernel_call>(found[1]), parameters);
    runtime::bad_index bad;
    const runtime::data_fault kind = runtime::read_fault(fault, &bad);
    if (kind == runtime::data_fault::none) continue;
    CHECK(kind == runtime::data_fault::user_index);
    told = jit::describe(bad.access);
  }
  planner.clear();
  return told;
}

struct checked {
  bool before = jit::checks_index();
  checked() { jit::set_checks_index(true); }
  ~checked() { jit::set_checks_index(before); }
};

}  // namespace

TEST_CASE("emulated: reads out of range are told by the first thread that meets one") {
  if (no_compiler()) return;
  const checked mode;
  const auto* pick = function("pick", {raw("a", f32), par("i", i64)}, {par("z", f32)}, "z = a[i];");
  const value x = stored(std::vector<float>(10, 1.0f), cpu);
  CHECK(fault_of(call(pick, {15}, {x, position({15}, cpu)})) ==
        "[pick] index 10 of argument a is out of range for extent 10");
  CHECK(fault_of(call(pick, {10}, {x, position({10}, cpu)})) == "none");
}

TEST_CASE("emulated: writes and atomic operations out of range are told, and leave memory alone") {
  if (no_compiler()) return;
  const checked mode;
  const auto* scatter = function("scatter", {par("i", i64)}, {raw("h", f32, 2), raw("k", f32)},
                                 "k[i] = 1; atomic_add(k, i, 1.0f); h(i, 1) = 5; h(i, 0) += 1;");
  // The arrays are the middle of buffers whose ends must stay as they are.
  const value h = stored(std::vector<float>(12, 0.0f), cpu), k = stored(std::vector<float>(9, 0.0f), cpu);
  const value inner_h = graph::make_leaf(h->buffer, 4, dims{2, 2}, f32),
              inner_k = graph::make_leaf(k->buffer, 3, dims{3}, f32);
  CHECK(fault_of(graph::record_effect(scatter, {3}, {position({3}, cpu), inner_h, inner_k}, {}, cpu)) ==
        "[scatter] index 2 of argument h is out of range for axis 0 with extent 2");
  CHECK(elements<float>(h) == std::vector<float>{0, 0, 0, 0, 1, 5, 1, 5, 0, 0, 0, 0});
  CHECK(elements<float>(k) == std::vector<float>{0, 0, 0, 2, 2, 2, 0, 0, 0});
}

#endif
