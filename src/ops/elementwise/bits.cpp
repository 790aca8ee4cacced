// Elementwise logic and bit operations; functions that are a single operation are defined in math.cpp.
#include "ops/base/binary.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

value truth_operand(const operand& x, const dims& shape, runtime::device_id device, const char* function) {
  if (x.is_array()) return truth_of(value_of(x.array(), function));
  return bool_of(x.number().real() != 0 || x.number().imag() != 0, shape, device);
}

ndarray logical(const char* function, opcode op, const operand& x, const operand& y) {
  const auto again = [=](const operand* o) { return logical(function, op, o[0], o[1]); };
  if (auto later = over_selections(jit::weight(op), again, x, y)) return *later;
  if (const plain_pair both(function, loop_rule::any, x, y); both && is_bool(both.loop()))
    return wrap(both.map(op, dtype::b1));
  const operand* const both[] = {&x, &y};
  const dims shape = broadcast_shapes(both, function);
  const auto device = common_device(both, function);
  const value args[] = {truth_operand(x, shape, device, function), truth_operand(y, shape, device, function)};
  return wrap(graph::record_map(op, dtype::b1, shape, args));
}

}  // namespace

ndarray logical_and(const operand& x, const operand& y) { return logical("logical_and", opcode::logical_and, x, y); }
ndarray logical_or(const operand& x, const operand& y) { return logical("logical_or", opcode::logical_or, x, y); }
ndarray logical_xor(const operand& x, const operand& y) { return logical("logical_xor", opcode::logical_xor, x, y); }
ndarray logical_not(const ndarray& x) {
  return wrap(map_of(opcode::logical_not, dtype::b1, truth_of(value_of(x, "logical_not"))));
}

// Of bools these are logical operations.
ndarray bitwise_and(const operand& x, const operand& y) {
  return binary("bitwise_and", opcode::bitwise_and, opcode::logical_and, loop_rule::bitwise, x, y);
}
ndarray bitwise_or(const operand& x, const operand& y) {
  return binary("bitwise_or", opcode::bitwise_or, opcode::logical_or, loop_rule::bitwise, x, y);
}
ndarray bitwise_xor(const operand& x, const operand& y) {
  return binary("bitwise_xor", opcode::bitwise_xor, opcode::logical_xor, loop_rule::bitwise, x, y);
}
ndarray invert(const ndarray& x) {
  const value v = value_of(x, "invert");
  loop_dtype(loop_rule::bitwise, v->type, "invert");
  return wrap(map_of(is_bool(v->type) ? opcode::logical_not : opcode::bitwise_not, v->type, v));
}

}  // namespace sinter::inline v0
