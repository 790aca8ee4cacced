// Entry points of the CUDA generator: names, choice of the shape's emitter, prelude parts.
#include "jit/cuda/emit.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "jit/cuda/emit_kernel.hpp"
#include "jit/cuda/emit_steps.hpp"
#include "jit/cuda/prelude_select.hpp"
#include "jit/prelude_text.hpp"
#include "jit/user_text.hpp"

namespace sinter::jit {
namespace {

/// FNV-1a.
std::uint64_t hash_bytes(const std::string& bytes) noexcept {
  std::uint64_t h = 1469598103934665603ull;
  for (unsigned char c : bytes) h = (h ^ c) * 1099511628211ull;
  return h;
}

user_text text_of_users(const std::vector<const program*>& programs) {
  const bool any = std::any_of(programs.begin(), programs.end(), [](const program* p) { return calls_users(*p); });
  return any ? define_users(programs, cuda::function_words) : user_text{};
}

bool is_special_file(std::string_view part) { return part.starts_with("special_"); }

/// Long functions are made of pieces that are called. Beside short ones alone they are inlined: these run at the speed of memory,
/// and loads should overlap what they compute.
bool calls_pieces(const std::vector<const program*>& programs) {
  constexpr int long_weight = 200;
  return std::any_of(programs.begin(), programs.end(), [](const program* p) {
    return std::any_of(p->code.begin(), p->code.end(),
                       [](const instr& i) { return is_special(i.op) && weight(i.op) >= long_weight; });
  });
}

/// The files of jit/prelude that the programs may need, in order.
std::vector<std::string_view> cuda_parts(const std::vector<const program*>& programs) {
  unsigned mask = prelude_base;
  bool reduces = false, sums = false, complex_reduces = false, skips = false, users = false, bytes = false;
  for (const program* p : programs) {
    if (calls_users(*p)) {
      users = true;
      mask |= prelude_float | prelude_half;
      if (names_complex(*p)) mask |= prelude_user_complex;
    }
    for (auto& i : p->code) mask |= needed_parts(i);
    const auto is_byte = [](dtype t) { return t == dtype::u8 || t == dtype::i8; };
    for (auto& i : p->inputs) {
      if (is_complex(i.type)) mask |= prelude_complex;
      bytes = bytes || is_byte(i.type);
    }
    for (auto& o : p->outputs) bytes = bytes || is_byte(o.type);
    for (auto& r : p->reductions) {
      reduces = true;
      sums = sums || about(r.op).prelude == std::string_view("cuda_reduce_sum");
      skips = skips || r.tail > 0;
      complex_reduces = complex_reduces || is_complex(r.arg);
    }
  }
  if (reduces) mask |= prelude_float;
  std::vector<std::string_view> parts = prelude_files(mask);
  if (calls_pieces(programs)) std::replace(parts.begin(), parts.end(), special_pieces_inlined, special_pieces_called);
  auto add = [&](bool needed, const char* part) {
    if (needed) parts.emplace_back(part);
  };
  add(true, "cuda_loop");
  add(bytes, "cuda_bytes");
  add(true, "cuda_turn");
  add(true, "cuda_quick");
  add((mask & prelude_half) != 0, "cuda_half");
  add(reduces, "cuda_reduce");
  add(sums || complex_reduces, "cuda_reduce_sum");
  add(complex_reduces, "cuda_reduce_complex");
  add(skips, "cuda_reduce_skip");
  add(users && reduces, "cuda_reduce_user");
  add(users, "user_cuda");
  add(users, "user");
  add(users && (mask & prelude_user_complex), "user_complex");
  return parts;
}

}  // namespace

bool cuda_is_long(const instr& i) noexcept {
  constexpr int least = 8;  // weight of functions
  return is_complex(i.arg) && i.op != opcode::load && weight(i.op) >= least;
}

int cuda_vector_length(const program& p) {
  if (!p.calls.empty() && std::any_of(p.code.begin(), p.code.end(), [](auto& i) { return i.op == opcode::address; }))
    return 1;
  std::size_t widest = 1;
  for (auto& i : p.inputs) widest = std::max(widest, itemsize(i.type));
  for (auto& o : p.outputs) widest = std::max(widest, itemsize(o.type));
  const int lanes = static_cast<int>(16 / widest);
  const bool few = std::any_of(p.code.begin(), p.code.end(), cuda_is_long) ||
                   (lanes == 4 && cuda::registers_in_steps(p) > cuda_step_registers);
  return few ? std::min(lanes, 2) : lanes;
}

int cuda_unroll(const program& p, const cuda_variant& v) {
  int bytes = 0;
  const std::size_t inputs = std::min(p.inputs.size(), v.inputs.size());
  for (std::size_t k = 0; k < inputs; ++k)
    if (v.inputs[k] != access::uniform)
      bytes += cuda_elements_read(v, k, v.vector) * static_cast<int>(itemsize(p.inputs[k].type));
  const bool streams = bytes > 0;
  if (!streams)
    for (auto& o : p.outputs) bytes += v.vector * static_cast<int>(itemsize(o.type));
  int n = bytes ? std::clamp(64 / bytes, 1, 4) : 1;
  const int work = cuda::total_weight(p, 0, static_cast<int>(p.code.size()));
  // A thread prepares the keys of a draw once, which costs as much as an element: it draws 32 elements if each is
  // cheap.
  const bool draws = std::any_of(p.code.begin(), p.code.end(), [](auto& i) { return is_random(i.op); });
  if (draws && v.shape == cuda_shape::linear && work <= 64) return v.vector == 4 && !streams && work <= 32 ? 2 * n : n;
  if (v.shape != cuda_shape::linear) n = std::max(n, bytes <= 64 ? 2 : 1);
  if (work > 20) n = std::min(n, 2);
  return work > 40 || std::any_of(p.code.begin(), p.code.end(), cuda_is_long) ? 1 : n;
}

int cuda_elements_read(const cuda_variant& v, std::size_t input, int lanes) noexcept {
  if (v.inputs[input] == access::lanes) return 1;
  if (v.inputs[input] != access::run) return lanes;
  const cuda_run& r = v.runs[input];
  return r.first == input ? r.packs * r.pack : 0;
}

// Rows of V lanes that a warp writes lie one pitch apart, in another part of the 128 bytes of the banks each.
int cuda_tile_pitch(const cuda_variant& v, dtype type) noexcept {
  const int size = static_cast<int>(itemsize(type)), rows = (1 << v.tile.down) / v.vector;
  const int apart = std::max({128 / std::min(rows, 32), size * v.vector, 4});
  return (1 << v.tile.across) + apart / size;
}

int cuda_tile_bytes(const program& p, const cuda_variant& v) noexcept {
  int bytes = 0;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) {
    if (v.inputs[k] != access::staged) continue;
    const int tile = cuda_tile_pitch(v, p.inputs[k].type) * static_cast<int>(itemsize(p.inputs[k].type)) << v.tile.down;
    bytes += (tile + 15) & ~15;
  }
  return bytes;
}

int cuda_strip_bytes(const program& p, const cuda_variant& v) noexcept {
  std::size_t widest = 0;
  for (std::size_t k = 0; k < p.inputs.size(); ++k)
    if (v.inputs[k] == access::staged) widest = std::max(widest, itemsize(p.inputs[k].type));
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    if (v.outputs[k] == access::staged) widest = std::max(widest, itemsize(p.outputs[k].type));
  return cuda_block * cuda_group * static_cast<int>(widest);
}

int cuda_slab_pitch(const cuda_variant& v, dtype type) noexcept {
  return v.tile.slots * cuda_group + 16 / static_cast<int>(itemsize(type));
}

int cuda_slab_bytes(const program& p, const cuda_variant& v) noexcept {
  int bytes = 0;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) {
    const auto axes = static_cast<operand_axes>(v.row_only[k]);
    if (v.inputs[k] == access::uniform || axes == operand_axes::none) continue;
    const int rows = cuda_tile_side << (axes == operand_axes::row ? v.tile.down : v.tile.across);
    bytes += cuda_slab_pitch(v, p.inputs[k].type) * static_cast<int>(itemsize(p.inputs[k].type)) * rows;
  }
  return bytes;
}

int cuda_window_reach(const cuda_variant& v, int step) noexcept {
  return (cuda_window_results - 1) * step + v.window.back();
}

int cuda_window_vector(dtype type) noexcept {
  return std::clamp(16 / static_cast<int>(itemsize(type)), 1, cuda_window_results);
}

bool is_order_free(const reduce_desc& r) noexcept {
  const reduce_order order = about(r.op).order;
  return order == reduce_order::free || (order == reduce_order::rounded && !is_inexact(r.arg));
}

void append_variant(const cuda_variant& v, std::string& key) {
  const char head[] = {
      static_cast<char>(v.shape),       static_cast<char>(v.rank),          static_cast<char>(v.kept),
      static_cast<char>(v.vector),      static_cast<char>(v.wide_index),    static_cast<char>(v.whole),
      static_cast<char>(v.alone),       static_cast<char>(v.skip_tail),     static_cast<char>(v.baseline),
      static_cast<char>(v.groups),      static_cast<char>(v.all_groups),    static_cast<char>(v.tile.axis),
      static_cast<char>(v.tile.across), static_cast<char>(v.tile.down),     static_cast<char>(v.tile.slots),
      static_cast<char>(v.tile.levels), static_cast<char>(v.tile.halves),   static_cast<char>(v.tile.mirrored),
      static_cast<char>(v.reused),      static_cast<char>(v.tile.pairs),    static_cast<char>(v.before),
      static_cast<char>(v.after),       static_cast<char>(v.back),          static_cast<char>(v.rest),
      static_cast<char>(v.lane_runs),   static_cast<char>(v.kept_in_shared)};
  key.append(head, sizeof head);
  const auto bytes = [&](const auto& list) {
    key.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]);
  };
  bytes(v.inputs);
  bytes(v.outputs);
  bytes(v.row_only);
  bytes(v.places);
  bytes(v.wraps);
  bytes(v.window);
  bytes(v.runs);
}

std::string cuda_kernel_name(const program& p, const cuda_variant& v) {
  std::string key;
  p.append_stable_key(key);
  append_variant(v, key);
  char tail[16];
  std::snprintf(tail, sizeof tail, "_%010llx", static_cast<unsigned long long>(hash_bytes(key) & 0xffffffffffull));
  return "sn_" + p.label() + tail;
}

bool cuda_has_second_stage(const cuda_variant& v) noexcept {
  const bool splits = v.shape == cuda_shape::reduce_rows || v.shape == cuda_shape::reduce_columns ||
                      v.shape == cuda_shape::crossed_rows || v.shape == cuda_shape::crossed_columns;
  return splits && !v.whole;
}

std::string emit_cuda(const program& p, const cuda_variant& v) {
  switch (v.shape) {
    case cuda_shape::linear: return cuda::emit_linear(p, v);
    case cuda_shape::strided: return cuda::emit_strided(p, v);
    case cuda_shape::flat_rows: return cuda::emit_flat(p, v);
    case cuda_shape::tiled: return cuda::emit_tiles(p, v);
    case cuda_shape::reduce_tiles: return cuda::emit_reduce_tiles(p, v);
    case cuda_shape::reduce_rows:
    case cuda_shape::reduce_columns:
    case cuda_shape::crossed_rows:
    case cuda_shape::crossed_columns:
    case cuda_shape::shared_rows: return cuda::emit_reduce(p, v);
    case cuda_shape::broadcast_rows: return cuda::emit_broadcast(p, v);
    case cuda_shape::stride_loop: return cuda::emit_stride_loop(p, v);
    case cuda_shape::staged_rows: return cuda::emit_stages(p, v);
    case cuda_shape::windows: return cuda::emit_windows(p, v);
    case cuda_shape::step_loop: return cuda::emit_step_loop(p, v);
  }
  return {};
}

std::string cuda_prelude(const std::vector<const program*>& programs) {
  const user_text user = text_of_users(programs);
  std::string source = checked_mode_text(programs) + user.includes;
  for (std::string_view part : cuda_parts(programs))
    if (!is_special_file(part)) source += prelude_text(part);
  return source + user.definitions;
}

std::string cuda_module(const std::vector<const program*>& programs, const std::string& kernels) {
  // The names that users' text mentions are unknown.
  const std::vector<std::string_view> parts = cuda_parts(programs);
  if (std::none_of(programs.begin(), programs.end(), [](const program* p) { return calls_users(*p); }))
    return select_prelude(parts, kernels) + kernels;
  // Special functions are not part of what users' text may mention.
  std::vector<std::string_view> special;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(special), is_special_file);
  return cuda_prelude(programs) + (special.empty() ? std::string() : select_prelude(special, kernels)) + kernels;
}

}  // namespace sinter::jit
