// src/ops/indexing: selections and writes by keys, masks and index arrays, and the functions that find or take by them.
//
// Selections by arrays: what `x[idx]` and `x(mask, _)` name, read when somebody needs it and written through.
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
  bool in_range = false;   // indices that have been checked
  int axis = 0, axes = 1;  // of the base: the first one, and how many
  int named = 0;           // axis of the array that the user indexed
};

/// `base(entries)`. What the key's other items say is in the base's view already.
struct advanced_index {
  graph::view_ref base;
  graph::value held;  // what the base held when it was indexed
  std::vector<index_entry> entries;
  int front = 0;  // axes in front of the selected ones in the result, of those that no entry uses up

  bool keeps(int axis) const noexcept;
};

/// A view that is filled in when it is first used.
struct selection_view : graph::array_view {
  advanced_index what;
  std::mutex once;
  std::uint32_t capture = 0;  // that it was made in (graph/capture/capture.hpp)
};

subarray make_selection(advanced_index p);
/// The selection behind a handle that nobody has read yet; null for any other.
selection_view* unread_selection(const ndarray& a) noexcept;

/// Index arrays without masks: coordinates along single axes, broadcast to one shape. Synchronises for masks.
struct chosen_axis {
  graph::value index;
  int axis = 0, named = 0;
  bool in_range = false;
};
struct choice {
  dims shape;
  std::vector<chosen_axis> axes;
  bool unique = true;  // no element is named twice
};
choice choose_elements(const advanced_index& p);
/// Extents of the axes that no entry uses up.
dims kept_extents(const advanced_index& p);
/// The result's shape.
dims selection_shape(const advanced_index& p, const choice& c);

/// The elements. Records; synchronises for masks.
graph::value read_selection(const advanced_index& p);
/// base(entries) = e.
void write_selection(advanced_index& p, const operand& e, const char* function);
/// base(entries) = operation(base(entries), e), cast as same_kind.
void update_selection(advanced_index& p, const operand& e, const char* function,
                      ndarray (*operation)(const operand&, const operand&));

enum class accumulation : std::uint8_t { add, max, min };
/// Each selected element is combined with each value that falls on it.
void accumulate_selection(advanced_index& p, const operand& e, accumulation how, bool deterministic,
                          const char* function);

/// The view, if it may be written; value_error otherwise.
const graph::array_view& writable(const graph::array_view& v, const char* function);

/// Small pieces shared by the files of this subject.
graph::value integer_of(std::int64_t v, runtime::device_id device);
/// Throws index_error unless all indices are in [-extent, extent). Synchronises: for indices that no gather will look at,
/// since nothing is selected for another reason.
void require_within(const graph::value& index, std::int64_t extent, int named);
/// Integers or bools.
void require_index_dtype(dtype type, const char* function);
/// Coordinate `axis` of C-order positions in `shape`.
graph::value unravel_one(const graph::value& position, const dims& shape, int axis);
/// With axes of extent 1 behind until the rank is `rank`.
graph::value pad_behind(const graph::value& v, int rank);

}  // namespace sinter::ops
