// Elements that one mask selects, as values of the whole array's shape: a write by the same mask is then a choice
// between old and new elements, `y[m] = x[m] + 1` as `where(m, x + 1, y)`, without a count and without a compaction.
#pragma once
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "ops/indexing/advanced_index.hpp"

namespace sinter::ops {

/// `x[mask]`, or an elementwise function of such selections by one mask. Its size is unknown until it is compacted.
class masked_elements {
 public:
  /// An argument of a function: another selection, a value of shape (), or a number.
  using argument = std::variant<std::shared_ptr<masked_elements>, value, scalar>;

  /// A selection for which is_by_one_mask() holds.
  explicit masked_elements(const advanced_index& selection) : what_(selection) {}
  /// f of arguments, the first selection among which is `like`; `whole` is f of the whole values.
  masked_elements(const masked_elements& like, value whole, int weight, elementwise_function f,
                  std::vector<argument> arguments);

  /// Whether elements of both correspond: the same mask, over values of the same shape.
  bool corresponds_to(const masked_elements& o) const;
  /// The value of which the elements are selected, if those that `p` selects correspond to them, and computing all of
  /// it costs less than selecting; else null.
  value whole_for(const advanced_index& p);
  /// The selected elements. Evaluates the mask, waits for the count; the second time it returns the same value.
  value compacted();

  value whole();
  /// Whether the mask is over all axes and this is the first call: the second reduction of one selection would rather
  /// have it compacted.
  bool begin_reduction();
  const index_entry& mask() const noexcept { return what_.entries[0]; }
  int weight() const noexcept { return weight_; }

 private:
  std::mutex mutex_;
  advanced_index what_;  // its source is the whole value; null when compacted
  core::dims shape_ = what_.source->shape;
  int weight_ = 0;
  bool fast_math_ = false;
  elementwise_function apply_;  // empty for a plain selection
  std::vector<argument> arguments_;
  value result_;
  bool is_reduced_ = false;
};

/// The selection that an array is, if it has not been read and is by one mask, in the calling thread's capture (or
/// likewise in none); else null.
std::shared_ptr<masked_elements> masked_elements_of(const ndarray& a);

/// A selection that has not been read, as a mask and values, both of rank 1, for a reduction whose result does not
/// depend on order: the elements that are left out are replaced by ones that do not change it. Nothing for any other
/// array, nor where `takes` refuses the dtype.
struct masked_whole {
  value mask, whole;
};
std::optional<masked_whole> masked_to_reduce(const ndarray& x, const std::function<bool(dtype)>& takes);

/// Whether two values are known to be equal: the same value, or the same operations on the same values.
bool is_same_value(const value& a, const value& b);

}  // namespace sinter::ops
