// Recording: the only way to make nodes. Callers (src/ops) have checked shapes, dtypes and axes; these functions
// neither throw for user mistakes nor touch a device nor evaluate anything, except that a computed value of more
// elements than can be counted is a shape_error here for every caller. The length of chains of pending nodes is stored
// (`depth`, `writes`); flush_if_long (flush.hpp) acts on it.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>

#include "graph/values/node.hpp"

namespace sinter::graph {

/// Per-thread scope state: recorded into nodes.
bool fast_math() noexcept;
void set_fast_math(bool on) noexcept;

/// Scalar of dtype `type`, which is that of `v`, broadcast to `shape`.
value record_scalar(const jit::scalar& v, dtype type, const dims& shape, runtime::device_id device);
/// Zeros in place of uninitialised elements: a kernel that writes all of them need not have them filled.
value record_unset(dtype type, const dims& shape, runtime::device_id device);
/// int64 coordinate along `axis` of `shape`.
value record_iota(const dims& shape, int axis, runtime::device_id device);
/// Elementwise operation. Operands have one dtype (`select`: bool, T, T) and broadcast to `shape`; `type` is the
/// result's.
value record_map(jit::opcode op, dtype type, const dims& shape, std::span<const value> operands);
inline value record_map(jit::opcode op, dtype type, const dims& shape, std::initializer_list<value> operands) {
  return record_map(op, type, shape, std::span<const value>(operands));
}
/// The same, moving from the operands: reference counting is a considerable part of the cost of recording.
value record_map_moving(jit::opcode op, dtype type, const dims& shape, std::span<value> operands);
/// The same with the shape of an operand, by its number.
value record_map_like(jit::opcode op, dtype type, int like, std::span<value> operands);
/// A draw of random numbers: `op` is one of the random operations, `operands` are its arguments after the position
/// (their dtypes in jit/program/opcodes.def), broadcast to `shape`.
value record_random(jit::opcode op, dtype type, const dims& shape, const random_stream& stream,
                    std::span<const value> operands, runtime::device_id device);
/// The order (node::order) of what the calling thread has recorded last.
std::uint64_t last_recorded() noexcept;
/// Cast; returns `v` itself when the dtype is the same already.
value record_cast(value v, dtype type);
/// Affine view; returns `v` itself when the view is the identity.
value record_view(const value& v, const dims& shape, const dims& strides, std::int64_t offset);
/// take_along_axis: `index` is int64, has v's rank, and its other extents equal v's or are 1. Negative indices count
/// from the end; an index out of range raises data_fault::index_out_of_range at the next synchronisation, with
/// `reported_axis` as its axis. payload::gather::in_range as the axis says that no index is, whatever the data.
value record_gather(const value& v, const value& index, int axis, const dims& shape, int reported_axis = 0);
/// The elements moved by 0 < `by` < extent along an axis, from whose end they come in again at its beginning: a gather at
/// coordinate - by, where negative indices count from the end.
value record_roll(const value& v, std::int64_t by, int axis);
/// Reduction over the axes whose bit is set in `reduced` (index = axis); the result drops them. The caller has refused
/// min, max, argmin and argmax over no elements.
value record_reduce(jit::reduce_op op, dtype type, const value& v, std::span<const bool> reduced);
/// Reduction by a user's monoid over its own type (`v` has it). A result of a preamble's type can be read by calls
/// only.
value record_reduce(const jit::user_reduction* combine, const value& v, std::span<const bool> reduced);
/// Output `output` of a user's function. Operands have the dtypes of its inputs and broadcast to `shape`; raw ones are
/// evaluated, whole, before the kernel runs, and have the rank that the function declares. On the operands' device (the
/// default one if there are none). A call that is the epilogue of a reduction has the reduction's shape.
value record_call(const jit::user_function* f, int output, const dims& shape, std::vector<value> operands);
/// A call that runs for its side effects when it is flushed, and has no value. After the inputs, `operands` has a leaf
/// for each raw output, which the kernel writes; `targets` are leaves of `shape` for the other outputs.
value record_effect(const jit::user_function* f, const dims& shape, std::vector<value> operands,
                    std::vector<value> targets, runtime::device_id device);
/// `base` with the elements of the region (in base's C order) replaced by `rhs`, whose shape is the region's.
/// `in_place`: in base's memory, even if there are other references to it.
value record_update(const value& base, const dims& strides, std::int64_t offset, const value& rhs,
                    bool in_place = false);
/// Leaf over `shape` elements of a buffer.
value make_leaf(runtime::buffer_ref buffer, std::int64_t offset, const dims& shape, dtype type);
/// Leaf with uninitialised elements, in the kind of memory that the thread has chosen or in this one.
value unset_leaf(const dims& shape, dtype type, runtime::device_id device, std::optional<memory_kind> kind = {});

}  // namespace sinter::graph
