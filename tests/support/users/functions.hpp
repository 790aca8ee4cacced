// For tests of users' functions below the public classes: makes functions, values and arrays of them.
#pragma once
#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/plan/planner.hpp"
#include "graph/run/call.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/user_function.hpp"
#include "sinter/dtype.hpp"

namespace user_test {

// Not all of sinter: its public functions have names that are needed here.
namespace core = sinter::core;
namespace graph = sinter::graph;
namespace jit = sinter::jit;
namespace runtime = sinter::runtime;
using core::dims;
using graph::value;
using jit::user_function;
using jit::user_parameter;
using jit::user_reduction;
using sinter::dtype;
using parameters = std::vector<user_parameter>;

inline user_parameter par(std::string name, dtype t) { return {std::move(name), t, false, 0, {}}; }
inline user_parameter raw(std::string name, dtype t, int rank = 1) {
  return {std::move(name), t, true, static_cast<std::uint8_t>(rank), {}};
}
inline user_parameter opaque(std::string name, std::string type) {
  return {std::move(name), dtype::u8, false, 0, std::move(type)};
}

/// What a function has beside its parameters and body.
struct extras {
  std::string types{}, preamble{}, loop_prep{}, after_loop{};
  bool returns = false;
};
inline const user_function* function(std::string name, parameters in, parameters out, std::string body,
                                     const extras& x = {}) {
  user_function f;
  f.name = std::move(name);
  f.types = x.types;
  f.preamble = x.preamble;
  f.body = std::move(body);
  f.returns = x.returns;
  f.inputs = std::move(in);
  f.outputs = std::move(out);
  f.loop_prep = x.loop_prep;
  f.after_loop = x.after_loop;
  return jit::intern(std::move(f));
}
inline const user_reduction* reduction(std::string name, user_parameter v, std::string combine, std::string identity,
                                       const extras& x = {}) {
  user_reduction r;
  r.name = std::move(name);
  r.types = x.types;
  r.preamble = x.preamble;
  r.value = std::move(v);
  r.combine = std::move(combine);
  r.identity = std::move(identity);
  return jit::intern(std::move(r));
}

template <class T>
constexpr dtype dtype_for() {
  if constexpr (std::is_same_v<T, bool>) return dtype::b1;
  else if constexpr (std::is_same_v<T, float>) return dtype::f32;
  else if constexpr (std::is_same_v<T, double>) return dtype::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return dtype::c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return dtype::c128;
  else if constexpr (std::is_same_v<T, std::int8_t>) return dtype::i8;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return dtype::u8;
  else if constexpr (std::is_same_v<T, std::int16_t>) return dtype::i16;
  else if constexpr (std::is_same_v<T, std::int32_t>) return dtype::i32;
  else return dtype::i64;
}

/// A value in memory.
template <class T>
value stored(const std::vector<T>& x, const dims& shape, runtime::device_id device) {
  static_assert(!std::is_same_v<T, bool>, "bool elements come as uint8_t: stored_bool");
  return graph::from_host(x.data(), shape, dtype_for<T>(), device)->store->now();
}
inline value stored_bool(const std::vector<std::uint8_t>& x, const dims& shape, runtime::device_id device) {
  return graph::from_host(x.data(), shape, dtype::b1, device)->store->now();
}
template <class T>
value stored(const std::vector<T>& x, runtime::device_id device) {
  return stored(x, dims{static_cast<std::int64_t>(x.size())}, device);
}

template <class T>
std::vector<T> elements(const graph::array_view& v) {
  std::vector<T> x(static_cast<std::size_t>(core::element_count(v.shape)));
  graph::copy_to_host(v, x.data());
  return x;
}
/// The elements of a value, evaluated.
template <class T>
std::vector<T> elements(const value& v) {
  return elements<T>(*graph::make_array(v));
}

inline value number(double x, dtype t, const dims& shape, runtime::device_id device) {
  jit::scalar s;
  s.type = t;
  if (is_integer(t)) s.i = static_cast<std::int64_t>(x);
  else s.f[0] = x;
  return graph::record_scalar(s, t, shape, device);
}
inline value map(jit::opcode op, value a, value b) {
  const dtype t = a->type;
  const dims shape = a->shape;
  value operands[] = {std::move(a), std::move(b)};
  return graph::record_map_moving(op, t, shape, operands);
}
inline value add(value a, value b) { return map(jit::opcode::add, std::move(a), std::move(b)); }
inline value times(value a, double x) {
  value s = number(x, a->type, dims{}, a->device);
  return map(jit::opcode::multiply, std::move(a), std::move(s));
}
inline value plus(value a, double x) {
  value s = number(x, a->type, dims{}, a->device);
  return add(std::move(a), std::move(s));
}
/// C-order position in `shape`, as `i` in a body.
inline value position(const dims& shape, runtime::device_id device) {
  value flat = graph::record_iota(dims{core::element_count(shape)}, 0, device);
  return graph::record_view(flat, shape, core::contiguous_strides(shape), 0);
}
/// Reduction of all axes but those in `kept`.
inline value reduce(const user_reduction* r, const value& v, const std::vector<int>& kept = {}) {
  bool mask[64];
  for (int a = 0; a < v->shape.size(); ++a) mask[a] = true;
  for (int a : kept) mask[a] = false;
  return graph::record_reduce(r, v, std::span<const bool>(mask, static_cast<std::size_t>(v->shape.size())));
}
inline value reduce(jit::reduce_op op, const value& v, const std::vector<int>& kept = {}) {
  bool mask[64];
  for (int a = 0; a < v->shape.size(); ++a) mask[a] = true;
  for (int a : kept) mask[a] = false;
  return graph::record_reduce(op, v->type, v, std::span<const bool>(mask, static_cast<std::size_t>(v->shape.size())));
}
inline value call(const user_function* f, const dims& shape, std::vector<value> operands, int output = 0) {
  return graph::record_call(f, output, shape, std::move(operands));
}
inline void run(const user_function* f, const dims& shape, std::vector<value> operands,
                const std::vector<graph::view_ref>& outputs) {
  graph::run_call(f, shape, std::move(operands), outputs);
}

struct restore_limits {
  graph::planner_limits saved = graph::limits();
  ~restore_limits() { graph::limits() = saved; }
};

}  // namespace user_test
