// Order, names and types of the fields.
#include "jit/cuda/parameters.hpp"

#include <algorithm>
#include <iterator>

#include "jit/prelude_text.hpp"
#include "jit/program/loop_runs.hpp"

namespace sinter::jit {
namespace {

using role = cuda_field::role;

/// The name of a field: a word, and which of its two numbers follow.
struct member_name {
  const char* word;
  bool k, j;
};
constexpr member_name member_names[] = {
    {"p", true, false},        {"w", true, false},         {"q", true, false},     {"d", true, false},
    {"fault", false, false},   {"h", true, true},          {"e", false, true},     {"s", true, true},
    {"t", true, true},         {"y", true, true},          {"n", false, false},    {"outer", false, false},
    {"results", false, false}, {"elements", false, false}, {"team", false, false}, {"chunk", false, false},
    {"splits", false, false},  {"partial", false, false},  {"g", true, false}};
static_assert(std::size(member_names) == static_cast<std::size_t>(role::run_stride) + 1);

std::string name_of(const cuda_field& f, int j) {
  const member_name& s = member_names[static_cast<std::size_t>(f.what)];
  return s.word + (s.k ? num(f.k) : "") + (s.k && s.j ? "_" : "") + (s.j ? num(j) : "");
}

bool is_complex_scalar(const program& p, const cuda_field& f) noexcept {
  return f.what == role::scalar && is_complex(p.param_types[f.k]);
}

bool is_divisor(const program& p, std::size_t k) noexcept {
  return std::any_of(p.code.begin(), p.code.end(),
                     [&](const instr& i) { return divides_by_parameter(p, i) && p.code[i.b].a == k; });
}

std::size_t slots_of(const program& p, const cuda_field& f) noexcept {
  if (f.what == role::divisor) return itemsize(p.param_types[f.k]) == 8 ? 3 : 2;
  return f.what == role::extents || is_complex_scalar(p, f) ? 2u * f.members : f.members;
}

std::string type_of(const program& p, const cuda_variant& v, const cuda_field& f) {
  switch (f.what) {
    case role::input: return std::string("const ") + storage_type(p.inputs[f.k].type) + "*";
    case role::output: return std::string(storage_type(p.outputs[f.k].type)) + "*";
    case role::scalar: {
      const dtype t = p.param_types[f.k];
      return register_type(t == dtype::c64 ? dtype::f32 : t == dtype::c128 ? dtype::f64 : t);
    }
    case role::divisor: return std::string("sn::divisor<") + register_type(p.param_types[f.k]) + ">";
    case role::fault: return "int*";
    case role::extents: return v.wide_index ? "sn::extent64" : "sn::extent32";
    case role::input_strides:
    case role::output_strides:
    case role::wrap: return v.wide_index ? "long long" : "int";
    default: return "long long";
  }
}

}  // namespace

bool divides_by_parameter(const program& p, const instr& i) noexcept {
  const bool divides = i.op == opcode::floor_divide || i.op == opcode::remainder || i.op == opcode::fmod;
  return divides && is_integer(i.type) && p.code[i.b].op == opcode::param;
}

std::vector<cuda_field> cuda_layout(const program& p, const cuda_variant& v) {
  std::vector<cuda_field> all;
  const auto add = [&](role what, std::size_t k = 0, int members = 1) {
    if (members > 0) all.push_back({what, static_cast<std::uint8_t>(members), static_cast<std::uint16_t>(k)});
  };
  const std::size_t inputs = p.inputs.size(), outputs = p.outputs.size();
  for (std::size_t k = 0; k < inputs; ++k) add(role::input, k);
  for (std::size_t k = 0; k < outputs; ++k) add(role::output, k);
  for (std::size_t k = 0; k < p.param_types.size(); ++k) add(role::scalar, k);
  for (std::size_t k = 0; k < p.param_types.size(); ++k)
    if (is_divisor(p, k)) add(role::divisor, k);
  add(role::fault);
  for (std::size_t k = 0; k < inputs; ++k) add(role::gather_strides, k, p.inputs[k].gathers);
  if (v.shape != cuda_shape::linear) {
    add(role::extents, 0, v.rank);
    for (std::size_t k = 0; k < inputs; ++k)
      if (has_own_place(v, k)) add(role::input_strides, k, v.rank);
    for (std::size_t k = 0; k < outputs; ++k)
      if (has_own_place(v, inputs + k))
        add(role::output_strides, k, v.shape == cuda_shape::staged_rows ? v.rank : v.kept);
    for (std::size_t k = 0; k < v.wraps.size(); ++k)
      if (v.wraps[k].same == k) add(role::wrap, k, 3);
  }
  switch (v.shape) {
    case cuda_shape::linear:
    case cuda_shape::stride_loop: add(role::n); break;
    case cuda_shape::step_loop:
      add(role::n);
      for (std::size_t k = 0; k < outputs; ++k)
        if (is_in_each_run(p.outputs[k])) add(role::run_stride, k);
      break;
    case cuda_shape::strided:
    case cuda_shape::flat_rows:
    case cuda_shape::tiled: add(role::outer); break;
    case cuda_shape::broadcast_rows:
      for (role what : {role::results, role::elements, role::team}) add(what);
      break;
    case cuda_shape::staged_rows:
    case cuda_shape::shared_rows:
      for (role what : {role::results, role::elements}) add(what);
      break;
    case cuda_shape::reduce_tiles:
    case cuda_shape::windows:
      for (role what : {role::results, role::elements, role::team, role::chunk}) add(what);
      break;
    case cuda_shape::reduce_rows:
    case cuda_shape::reduce_columns:
    case cuda_shape::crossed_rows:
    case cuda_shape::crossed_columns:
      for (role what : {role::results, role::elements, role::chunk, role::splits, role::partial}) add(what);
      break;
  }
  return all;
}

std::size_t cuda_layout_bytes(const program& p, std::span<const cuda_field> layout) noexcept {
  std::size_t slots = 0;
  for (const cuda_field& f : layout) slots += slots_of(p, f);
  return slots * sizeof(std::uint64_t);
}

std::string cuda_args_struct(const program& p, const cuda_variant& v) {
  std::string text = "struct args {\n";
  for (const cuda_field& f : cuda_layout(p, v)) {
    const auto member = [&](const std::string& name) {
      text += "  alignas(8) " + type_of(p, v, f) + " " + name + ";\n";
    };
    if (is_complex_scalar(p, f))
      for (const char* part : {"r", "i"}) member(name_of(f, 0) + part);
    else
      for (int j = 0; j < f.members; ++j) member(name_of(f, j));
  }
  return text + "};\n";
}

}  // namespace sinter::jit
