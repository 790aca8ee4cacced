// Properties that can be derived from a plan.
#include "graph/plan/plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/plan/forms/index_data.hpp"

namespace sinter::graph {

const char* text(store_reason r) noexcept {
  switch (r) {
    case store_reason::requested: return "requested";
    case store_reason::sibling: return "a pending reduction over the same value";
    case store_reason::reduction: return "a reduction's result, read over another space";
    case store_reason::write: return "base of a partial write";
    case store_reason::expensive: return "not cheap, and much smaller than what reads it: computed once";
    case store_reason::several_views: return "read through several index maps: computed once";
    case store_reason::not_affine: return "reshaped in a way that no affine map expresses";
    case store_reason::packed: return "its memory lies otherwise than it is read: packed";
    case store_reason::row_indices: return "indices of rows, which are copied whole";
    case store_reason::rows: return "gathered rows, copied whole";
    case store_reason::reused: return "computed before and still held: stored this time";
    case store_reason::shared: return "several kernels need it, and computing it again costs more than storing it";
    case store_reason::held: return "a variable, and expensive to compute again";
    case store_reason::crossing: return "alive where the graph is cut into kernels";
    case store_reason::size: return "the kernel would be too large";
    case store_reason::unfused: return "fusion is off";
    case store_reason::raw: return "read by index in a user's function";
    case store_reason::unfusible: return "a user's function with text around its loop has a kernel of its own";
  }
  return "";
}

bool reads_in_place(const kernel_plan& k, const input_slot& s) {
  const dims dense = core::contiguous_strides(k.extents);
  if (s.raw || s.at.offset != 0 || s.at.coefficients.size() < dense.size()) return false;
  for (int v = 0; v < s.at.coefficients.size(); ++v) {
    if (v < dense.size() && k.extents[v] == 1) continue;
    if (s.at.coefficients[v] != (v < dense.size() ? dense[v] : 0)) return false;
  }
  return true;
}

device_price price_on(runtime::device_id device) noexcept {
  return device.kind == runtime::device_kind::cpu ? device_price{2, 5e3, 1} : device_price{6, 5e7, 4};
}

double price_of_moving(runtime::device_id device, std::size_t bytes) noexcept {
  constexpr std::size_t near = 512 << 10;  // of caches of 1 to 2 MB: what is read and what is written have room
  constexpr double faster = 0.25;
  const bool is_near = device.kind == runtime::device_kind::cpu && bytes <= near;
  return price_on(device).byte * static_cast<double>(bytes) * (is_near ? faster : 1);
}

namespace {

/// Weights are a GPU's, of float32: a host computes functions, by polynomials, at half the rate, and as many bytes at a time of
/// every dtype; those of complex numbers are several of their parts. Quotients and roots take its divider, which has a third of the
/// rate again for numbers of 8 bytes: as long as an exponential.
std::int32_t weight_on(const node* n, std::int32_t weight, bool divides) noexcept {
  constexpr std::int32_t function = 8, quotient = 12;
  if (n->device.kind != runtime::device_kind::cpu) return weight;
  const auto size = static_cast<std::int32_t>(itemsize(n->type));
  const std::int32_t parts = is_complex(n->type) ? 2 : 1;
  if (divides && is_inexact(n->type)) return quotient * (size / parts > 4 ? 3 : 1) * parts;
  if (weight < function) return weight;
  return 2 * weight * std::max<std::int32_t>(1, size / 4) * parts;
}

/// An element that is looked up takes the host a nanosecond, with the check of its index.
std::int32_t gather_weight(const node* n) noexcept {
  constexpr std::int32_t plain = 4, looked_up = 40;
  return n->device.kind == runtime::device_kind::cpu && is_looked_up(n) ? looked_up : plain;
}

/// Whole numbers below another one take the host a nanosecond each.
std::int32_t draw_weight(const node* n) noexcept {
  constexpr std::int32_t slower = 4;
  const jit::opcode op = n->random().op;
  const bool is_slow = op == jit::opcode::random_below && n->device.kind == runtime::device_kind::cpu;
  return jit::weight(op) * (is_slow ? slower : 1);
}

bool takes_divider(jit::opcode op) noexcept {
  return op == jit::opcode::divide || op == jit::opcode::sqrt || op == jit::opcode::reciprocal;
}

}  // namespace

std::int32_t own_weight(const node* n) noexcept {
  switch (n->kind.load(std::memory_order_relaxed)) {
    case node_kind::map: return weight_on(n, jit::weight(n->map().op), takes_divider(n->map().op));
    case node_kind::random: return draw_weight(n);
    case node_kind::call: return jit::weight(jit::opcode::user);
    case node_kind::gather: return gather_weight(n);
    case node_kind::reduce: return is_short(n) ? joining_weight(*n) : 0;
    default: return 0;
  }
}

jit::scalar value_of(const param_source& s) noexcept {
  if (s.n->kind == node_kind::scalar) return s.n->scalar().constant;
  const random_stream& stream = s.n->random().stream;
  jit::scalar word;
  word.type = dtype::u64;
  word.u = s.word == 0 ? stream.key : s.word == 1 ? stream.block : stream.subsequence;
  return word;
}

int fault_count(const jit::program& code) noexcept {
  const auto n = std::count_if(code.code.begin(), code.code.end(), [](const jit::instr& i) {
    return (i.op == jit::opcode::checked_index && !i.in_range) || (i.op == jit::opcode::power && is_integer(i.type)) ||
           i.op >= jit::opcode::random_gamma;
  });
  return static_cast<int>(n) + (code.flags.check_index ? static_cast<int>(code.calls.size()) : 0);
}

bool share_inputs(const kernel_plan& a, const kernel_plan& b) noexcept {
  for (const input_slot& s : a.inputs)
    for (const input_slot& t : b.inputs)
      if (s.source == t.source) return true;
  return false;
}

bool fail_alike(const kernel_plan& joined, const kernel_plan& k, const kernel_plan& later) {
  const int all = fault_count(joined.code);
  if (all == 0) return true;
  const bool reads = std::any_of(later.dependencies.begin(), later.dependencies.end(), [&](node* d) {
    return std::find(k.results.begin(), k.results.end(), d) != k.results.end();
  });
  return fault_count(k.code) == all && (reads || fault_count(later.code) == all);
}

std::vector<std::size_t> next_alike(const std::vector<kernel_plan*>& kernels) {
  std::vector<std::size_t> next(kernels.size(), kernels.size());
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (std::size_t p = kernels.size(); p-- > 0;) {
    std::uint64_t h = static_cast<std::uint64_t>(kernels[p]->kind) << 8 | static_cast<std::uint64_t>(kernels[p]->kept);
    for (const std::int64_t extent : kernels[p]->extents)
      h = (h ^ static_cast<std::uint64_t>(extent)) * 0x9e3779b97f4a7c15ull;
    std::size_t& nearest = known.try_emplace(h, kernels.size()).first->second;
    next[p] = std::exchange(nearest, p);
  }
  return next;
}

}  // namespace sinter::graph
