// Shorthands for recording elementwise values, from which the NumPy functions in src/ops are composed.
#pragma once
#include <functional>
#include <optional>

#include "ops/base/type_rules.hpp"

namespace sinter::ops {

using graph::value;
using jit::opcode;

/// The common broadcast shape of values, which are known to be compatible.
dims common_shape(std::span<const value> operands);

/// One operation over values that have its dtype and compatible shapes.
value map_of(opcode op, dtype type, const value& a);
value map_of(opcode op, dtype type, const value& a, const value& b);
/// condition ? a : b
value select_of(const value& condition, const value& a, const value& b);
/// A scalar of a real dtype (or of a complex one with imaginary part 0), of shape ().
value constant_of(double v, dtype type, runtime::device_id device);
/// A bool broadcast to `shape`.
value bool_of(bool v, const dims& shape, runtime::device_id device);
/// Whether each element is nonzero.
inline value truth_of(const value& a) { return graph::record_cast(a, dtype::b1); }

/// An elementwise function as it is called again on other arguments.
using elementwise_function = std::function<ndarray(const operand*)>;
/// Elementwise functions of selections by one mask that have not been read: f is recorded for the whole arrays, and the
/// result is again a selection that has not been read (ops/indexing/masked.hpp). Nothing where the arguments are not
/// such selections, arrays of shape () and numbers; the caller then reads them. `weight`: that of f's operations.
std::optional<ndarray> record_over_selections(std::span<const operand> x, int weight, elementwise_function f);

inline bool is_unread(const operand& x) {
  if (!x.is_array() || ndarray_access::is_recorded(x.array())) return false;
  const graph::view_ref& v = ndarray_access::unresolved(x.array());
  return v && v->deferred.load(std::memory_order_acquire);
}
/// The same for a function of few arguments, at the price of a test where there is no selection among them.
template <class F, class... X>
std::optional<ndarray> over_selections(int weight, const F& f, const X&... x) {
  if (!(is_unread(x) || ...)) [[likely]]
    return {};
  const operand all[] = {operand(x)...};
  return record_over_selections(std::span<const operand>(all), weight, f);
}

/// An operand of an operation: a value that is no array yet, or the view of an array. Neither of a number, of an undefined handle, and
/// of work that is put off.
struct plain_operand {
  plain_operand() noexcept = default;
  explicit plain_operand(const ndarray& a) : v(ndarray_access::recorded(a)) {
    if (v) return;
    view = ndarray_access::unresolved(a).get();
    if (view && view->deferred.load(std::memory_order_acquire)) [[unlikely]]
      view = nullptr;
  }
  explicit operator bool() const noexcept { return v || view; }
  dtype type() const noexcept { return v ? v->type : view->type; }
  const dims& shape() const noexcept { return v ? v->shape : view->shape; }
  const runtime::device_id& device() const noexcept { return v ? v->device : view->device(); }
  bool is_like(const plain_operand& o) const noexcept { return shape() == o.shape() && device() == o.device(); }
  value read() const {
    if (v) return v;
    if (view->whole) [[likely]] {
      graph::version now = view->store->now_as_is();
      if (!now.pinned) [[likely]]
        return std::move(now.v);
    }
    return graph::read(*view);
  }

  value v;
  const graph::array_view* view = nullptr;
};

/// Two operands that an operation takes as they are, as most do: arrays of one dtype and shape on one device, or such an
/// array and a number that leaves its dtype as it is, and that dtype is the loop's. None of them is a selection that
/// has not been read, or other work that is put off.
class plain_pair {
 public:
  /// Throws what `rule` does.
  plain_pair(const char* function, loop_rule rule, const operand& x, const operand& y);
  plain_pair(const plain_pair&) = delete;
  plain_pair& operator=(const plain_pair&) = delete;
  explicit operator bool() const noexcept { return of_ != nullptr; }
  dtype loop() const noexcept { return of_->type(); }
  /// Whether an array has the shape and the device of the result.
  bool is_like(const plain_operand& a) const noexcept { return of_->is_like(a); }
  value map(opcode op, dtype type) const;
  /// The operation on a value like the array x and the number y.
  value map_onto(value x, opcode op) const;
  /// x where `condition`, bools like the result, is true, y elsewhere.
  value select(const plain_operand& condition) const;

  /// Why it is none, if both are arrays: all but the dtypes is the same, or all but the shapes.
  bool differ_in_dtypes() const noexcept { return a_ && b_ && a_.is_like(b_); }
  bool differ_in_shapes() const noexcept { return a_ && b_ && a_.type() == b_.type() && a_.device() == b_.device(); }
  const plain_operand& first() const noexcept { return a_; }
  const plain_operand& second() const noexcept { return b_; }

 private:
  value number_of(const operand& o) const;

  const operand &x_, &y_;
  plain_operand a_, b_;                // without a value: a number
  const plain_operand* of_ = nullptr;  // one of them; null: something has to be converted
  const char* function_;
};

/// f(x) in the loop dtype that `rule` selects, which is also the result's.
ndarray unary(const char* function, opcode op, loop_rule rule, const ndarray& x);
ndarray binary(const char* function, opcode op, loop_rule rule, const operand& x, const operand& y);
/// Two arguments cast to their loop dtype.
resolved resolve_pair(const char* function, loop_rule rule, const operand& x, const operand& y);

/// For products whose order of multiplication is the library's: per factor a number such that the product of these
/// numbers says which zero, if any, the exact product is. 0 or 1 with the factor's sign (+ for complex numbers), NaN if
/// the factor is not finite.
value zero_and_sign_of(const value& factor);
/// `product`, with NaN replaced where `factors`, the product of zero_and_sign_of, is a zero: by that zero.
value zero_where_lost(const value& product, const value& factors);

/// `op` is maximum, minimum, fmax or fmin; the values have one dtype, of any kind.
value extreme_of(opcode op, const value& a, const value& b);

}  // namespace sinter::ops
