#include "backends/cpu/fixed_code.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "backends/cpu/kernels/kernels.hpp"
#include "backends/cpu/reduce/job.hpp"
#include "platform/hash.hpp"

namespace sinter::cpu {
namespace {

std::atomic<std::uint64_t> compiled_count{0};

struct fixed_table {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<fixed_code>, platform::bytes_hash> codes;

  static fixed_table& instance() {
    static auto* t = new fixed_table;  // outlives static arrays
    return *t;
  }
};

struct extent_of_memory {
  const char *begin, *end;
};

extent_of_memory memory_of(const jit::operand& o, const core::dims& extents, dtype type) {
  std::int64_t first = o.offset, last = o.offset;
  for (int a = 0; a < extents.size(); ++a) (o.strides[a] < 0 ? first : last) += (extents[a] - 1) * o.strides[a];
  const auto size = static_cast<std::int64_t>(itemsize(type));
  const auto* const base = static_cast<const char*>(o.base);
  return {base + first * size, base + (last + 1) * size};
}

bool are_same_places(const jit::operand& a, const jit::operand& b, const core::dims& extents) {
  if (a.base != b.base || a.offset != b.offset) return false;
  for (int k = 0; k < extents.size(); ++k)
    if (extents[k] != 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

/// Where the results of a launch lie beside what it reads.
jit::fixed_launch::overlap overlap_of(const jit::launch& l) {
  using overlap = jit::fixed_launch::overlap;
  const jit::program& p = *l.code;
  overlap found = overlap::none;
  for (std::size_t o = 0; o < l.outputs.size(); ++o) {
    const extent_of_memory to = memory_of(l.outputs[o], l.extents, p.outputs[o].type);
    for (std::size_t k = 0; k < l.inputs.size(); ++k) {
      const bool gathered = p.inputs[k].gathers != 0;  // reads anywhere around its first element
      const extent_of_memory from = memory_of(l.inputs[k], l.extents, p.inputs[k].type);
      if (!gathered && (from.begin >= to.end || to.begin >= from.end)) continue;
      if (gathered && l.inputs[k].base != l.outputs[o].base) continue;
      const bool same = !gathered && p.kind == jit::kernel_kind::elementwise && p.inputs[k].type == p.outputs[o].type &&
                        are_same_places(l.inputs[k], l.outputs[o], l.extents);
      if (!same) return overlap::others;
      found = overlap::same_places;
    }
  }
  return found;
}

}  // namespace

fixed_code::fixed_code(jit::fixed_launch l) : compiled_code(false), launch_(std::move(l)), emitter_(launch_) {}

jit::cpu_definition fixed_code::definition(const std::string& name) const {
  return {&launch_.code, {}, nullptr, name, &emitter_};
}

void fixed_code::install(std::span<void* const> addresses) noexcept {
  function_.store(reinterpret_cast<jit::fixed_function>(addresses[0]), std::memory_order_release);
  compiled_count.fetch_add(1, std::memory_order_relaxed);
}

fixed_code* find_fixed_code(const jit::launch& l) {
  const jit::program& p = *l.code;
  if (!l.wraps.empty() || p.kind == jit::kernel_kind::staged || core::element_count(l.extents) == 0) return nullptr;
  jit::addition_order order;
  if (p.kind == jit::kernel_kind::reduce) {
    const reduce_split split = split_of(l, shape_of(l));
    order = split.order;
    if (split.ordered && order.splits > 1) return nullptr;
  }
  jit::fixed_launch fixed(l, order, overlap_of(l));
  std::string key;
  fixed.append_key(key);
  fixed_table& t = fixed_table::instance();
  const std::lock_guard lock(t.mutex);
  auto found = t.codes.find(key);
  if (found == t.codes.end()) found = t.codes.emplace(key, std::make_unique<fixed_code>(std::move(fixed))).first;
  return found->second->suits() ? found->second.get() : nullptr;
}

std::uint64_t compiled_fixed_codes() noexcept { return compiled_count.load(std::memory_order_relaxed); }

std::vector<void*> addresses_of(const jit::launch& l, const param_block& params) {
  std::vector<void*> all;
  const auto add = [&](const jit::operand& o, dtype type) {
    all.push_back(static_cast<char*>(o.base) + o.offset * static_cast<std::int64_t>(itemsize(type)));
  };
  for (std::size_t k = 0; k < l.inputs.size(); ++k) add(l.inputs[k], l.code->inputs[k].type);
  for (std::size_t k = 0; k < l.outputs.size(); ++k) add(l.outputs[k], l.code->outputs[k].type);
  for (std::size_t k = 0; k < l.params.size(); ++k) all.push_back(const_cast<void*>(params.pointers()[k]));
  return all;
}

}  // namespace sinter::cpu
