// src/ops/indexing: selections and writes by keys, masks and index arrays, and the functions that search, take and put.
//
// Selections by arrays (advanced indexing): `x[idx]` and `x(mask, _)`, evaluated on first use and written through.
#pragma once
#include <mutex>
#include <span>
#include <vector>

#include "ops/base/access.hpp"

namespace sinter::ops {

using core::dims;

/// An index array or mask of a key.
struct index_entry {
  graph::value values;  // int64 indices, or a mask
  bool mask = false;
  bool in_range = false;   // the indices have been checked
  int axis = 0, axes = 1;  // of the base: the first indexed axis, and how many
  int reported_axis = 0;   // axis of the user's array, reported in errors
};

/// `base(entries)`. The key's basic indices (integers, slices) are already part of the base's view.
struct advanced_index {
  graph::view_ref base;
  graph::value source;  // the base's value when it was indexed
  std::vector<index_entry> entries;
  int selected_at = 0;  // how many of the axes that no entry consumes precede the selected ones in the result

  bool keeps(int axis) const noexcept;
};

class masked_elements;

/// The deferred view of an advanced selection: evaluated when it is first used.
struct selection_view : graph::array_view {
  advanced_index what;                        // has no base where it is a function of selections
  std::shared_ptr<masked_elements> elements;  // where it is such a function, or an argument of one (masked.hpp)
  std::mutex once;
  std::uint32_t capture = 0;  // in which it was created (graph/capture/capture.hpp)
};

subarray make_selection(advanced_index p);
/// The selection that a handle refers to, through which it can be written, if it has not been evaluated yet; null for
/// any other handle.
selection_view* unread_selection(const ndarray& a) noexcept;

/// Index arrays without masks: coordinates along single axes, broadcast to one shape. Synchronises for masks.
struct selected_axis {
  graph::value index;
  int axis = 0, reported_axis = 0;
  bool in_range = false;
};
struct selected_elements {
  dims shape;
  std::vector<selected_axis> axes;
  bool unique = true;  // no element is selected twice
};
selected_elements select_elements(const advanced_index& p);
/// Extents of the axes that no entry consumes.
dims kept_extents(const advanced_index& p);
/// The result's shape.
dims selection_shape(const advanced_index& p, const selected_elements& c);

/// The selected elements. Records; synchronises for masks.
graph::value read_selection(const advanced_index& p);
/// base(entries) = e.
void write_selection(advanced_index& p, const operand& e, const char* function);
/// base(entries) = operation(base(entries), e), cast as same_kind.
void update_selection(advanced_index& p, const operand& e, const char* function,
                      ndarray (*operation)(const operand&, const operand&));

enum class accumulation : std::uint8_t { add, max, min };
/// Combines each selected element with every value whose index selects it.
void accumulate_selection(advanced_index& p, const operand& e, accumulation how, bool deterministic,
                          const char* function);

/// The view if it is writable; value_error otherwise.
const graph::array_view& writable(const graph::array_view& v, const char* function);
/// The right side of an assignment, on the target's device and cast to its dtype; an array keeps its shape, except that
/// leading axes of extent 1 beyond `rank` are dropped, as in NumPy.
graph::value right_side(const graph::array_view& target, const operand& e, int rank, const char* function);

/// Helpers shared by the indexing sources.
graph::value integer_of(std::int64_t v, runtime::device_id device);
/// Throws index_error unless all indices are in [-extent, extent). Synchronises: for indices that no gather will check,
/// since another extent of 0 leaves nothing to select.
void require_within(const graph::value& index, std::int64_t extent, int reported_axis);
/// Throws unless the dtype is an integer or bool.
void require_index_dtype(dtype type, const char* function);
/// Whether every number of the type is an index of such an axis, counted from its begin, as those of `in_range` are: nothing has to
/// be checked.
constexpr bool always_within(dtype type, std::int64_t extent) noexcept {
  switch (type) {
    case dtype::u8: return extent >= 1 << 8;
    case dtype::u16: return extent >= 1 << 16;
    default: return false;
  }
}
/// Coordinate `axis` of C-order positions in `shape`.
graph::value unravel_one(const graph::value& position, const dims& shape, int axis);
/// The value with trailing axes of extent 1 appended up to rank `rank`.
graph::value append_unit_axes(const graph::value& v, int rank);

}  // namespace sinter::ops
