// Selections whose size depends on data. The flags are counted first, so that the result is allocated at its exact size
// and the elements are written directly into it; only the count is copied to the host.
#include "ops/indexing/select.hpp"

#include <limits>
#include <optional>
#include <vector>

#include "graph/run/array.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"

namespace sinter::ops {
namespace {

constexpr std::int64_t tile_rows = 32, tile_columns = 32;
static_assert(tile_rows * tile_columns == runtime::flags_of_tile);

/// From this many elements on, pending flags are evaluated as packed bits if the backend supports it: an eighth of the
/// memory and of the traffic. Below, launch latency dominates.
constexpr std::int64_t least_packed = std::int64_t{1} << 20;

/// Flags, and with them the data, evaluated and counted. Must outlive the enqueued selection.
class counted_selection {
 public:
  /// `data` may be null. Waits for the count; reports data faults.
  counted_selection(const value& flags, const value& data) : device_(runtime::get_backend(flags->device)) {
    flags_.rest = flags;
    runtime::algorithms& algorithms = device_.algorithms();
    const bool elementwise = flags->kind.load(std::memory_order_acquire) == graph::node_kind::map;
    if (algorithms.takes_packed_flags() && elementwise && !flags->evaluated_before && flags->size() >= least_packed)
      flags_ = pack_flags(flags);
    std::vector<value> needed;
    for (const value& v : {flags_.words, flags_.rest, data})
      if (v) needed.push_back(v);
    graph::flush(needed);
    selected_.count = flags->size();
    selected_.packed = flags_.packed;
    if (flags_.words) selected_.words = static_cast<const std::uint32_t*>(address_to_read(flags_.words));
    if (flags_.rest) selected_.flags = static_cast<const bool*>(address_to_read(flags_.rest));
    scratch_.emplace(device_, algorithms.select_scratch(selected_));
    const std::int64_t* const count = algorithms.count_selected(selected_, scratch_->data());
    device_.copy_to_host(&count_, count, sizeof count_);
    graph::report_captured_faults(device_);
    for (const value& v : {flags_.words, flags_.rest})
      if (v) graph::check_data(v);
  }

  value elements(const value& data) {
    value out = unset_leaf(dims{count_}, data->type, data->device);
    if (count_ != 0)
      device_.algorithms().select(selected_, static_cast<int>(itemsize(data->type)), address_to_read(data),
                                  address_to_write(out), scratch_->data());
    graph::inherit_faults(out, {&data});
    return out;
  }
  value positions() {
    value out = unset_leaf(dims{count_}, dtype::i64, device_.id());
    if (count_ != 0)
      device_.algorithms().select_positions(selected_, static_cast<std::int64_t*>(address_to_write(out)),
                                            scratch_->data());
    return out;
  }

 private:
  runtime::backend& device_;
  packed_flags flags_;
  runtime::selection selected_;
  std::optional<runtime::buffer> scratch_;
  std::int64_t count_ = 0;
};

}  // namespace

packed_flags pack_flags(const value& flags) {
  packed_flags out;
  dims lead = flags->shape;
  const int rank = lead.size();
  const std::int64_t last = rank == 0 ? 0 : lead[rank - 1];
  if (last % runtime::flags_of_tile != 0 || last == 0) {
    if (last != flags->size() || last < runtime::flags_of_tile) {
      out.rest = flags;
      return out;
    }
    lead = dims(rank, 1);
  } else if (rank + 2 > core::max_rank) {
    out.rest = flags;
    return out;
  }
  // Bit b of a word is row b of a tile. The reduction runs over the rows, so that adjacent words are computed from
  // adjacent elements.
  dims shape = lead, strides = core::contiguous_strides(flags->shape);
  shape.resize(rank - 1);
  strides.resize(rank - 1);
  for (const std::int64_t n : {last / runtime::flags_of_tile, tile_rows, tile_columns}) shape.push_back(n);
  for (const std::int64_t n : {runtime::flags_of_tile, tile_columns, std::int64_t{1}}) strides.push_back(n);
  dims along(rank + 2, 1);
  along[rank] = tile_rows;
  const auto number = [&](std::int64_t n) {
    return graph::record_scalar(scalar_of(n, dtype::u32, "select"), dtype::u32, dims(), flags->device);
  };
  const value row = graph::record_cast(graph::record_iota(along, rank, flags->device), dtype::u32);
  const value bit = map_of(opcode::left_shift, dtype::u32, number(1), row);
  const value bits = select_of(graph::record_view(flags, shape, strides, 0), bit, number(0));
  bool reduced[core::max_rank] = {};
  reduced[rank] = true;
  out.words = graph::record_reduce(jit::reduce_op::sum, dtype::u32, bits,
                                   std::span(reduced, static_cast<std::size_t>(rank + 2)));
  out.packed = out.words->size() * tile_rows;
  const std::int64_t rest = flags->size() - out.packed;
  if (rest != 0) out.rest = graph::record_view(flags, dims{rest}, dims{1}, out.packed);
  return out;
}

value true_positions(const value& flags) {
  if (is_intercepting()) {
    const ndarray f = wrap(flags);
    if (auto r = intercept("true_positions", {&f}, {},
                           [](std::span<const ndarray> a) { return results_of(wrap(true_positions(value_of(a[0])))); }))
      return value_of((*r)[0]);
  }
  if (flags->size() == 0) return unset_leaf(dims{0}, dtype::i64, flags->device);
  return counted_selection(flags, value()).positions();
}

value true_elements(const value& data, const value& flags) {
  if (is_intercepting()) {
    const ndarray x = wrap(data), f = wrap(flags);
    if (auto r = intercept("true_elements", {&x, &f}, {}, [](std::span<const ndarray> a) {
          return results_of(wrap(true_elements(value_of(a[0]), value_of(a[1]))));
        }))
      return value_of((*r)[0]);
  }
  if (flags->size() == 0) return unset_leaf(dims{0}, data->type, data->device);
  return counted_selection(flags, data).elements(data);
}

value sorting_permutation(const value& keys, std::int64_t bound) {
  // With 32-bit keys a radix sort takes half the passes.
  const bool narrow = bound <= std::numeric_limits<std::int32_t>::max();
  const value sorted_by = evaluated(narrow ? graph::record_cast(keys, dtype::i32) : keys);
  return argsort_rows(sorted_by, {sorted_by->type, 1, sorted_by->size()}, false);
}

}  // namespace sinter::ops
