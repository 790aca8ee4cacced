// Rules of selections and writes by index, of repetitions, rolls, borders, and copies to other devices.
#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "ops/derivatives/regions.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/memory.hpp"
#include "sinter/take.hpp"

namespace sinter::ops::derivatives {
namespace {

using std::int64_t;

/// The selection of an announced call in another array of the base's shape: index arrays are operands from `first` on,
/// their axes are numbers from `at` on, three for each.
advanced_index selection_in(const opaque_case& c, const ndarray& base, std::size_t first, std::size_t at,
                            int64_t selected_at) {
  advanced_index p;
  p.base = ndarray_access::ref(base);
  p.source = value_of(base);
  p.selected_at = static_cast<int>(selected_at);
  for (std::size_t k = first; k < c.x.size(); ++k, at += 3)
    p.entries.push_back({value_of(c.x[k]), false, c.number(at + 2) != 0, static_cast<int>(c.number(at)), 1,
                         static_cast<int>(c.number(at + 1))});
  return p;
}

ndarray selected(const opaque_case& c, const ndarray& base, std::size_t first, std::size_t at, int64_t selected_at) {
  return wrap(read_selection(selection_in(c, base, first, at, selected_at)));
}

ndarray added(const opaque_case& c, const ndarray& base, const ndarray& values, std::size_t first, std::size_t at,
              int64_t selected_at) {
  const ndarray sums = wrap(value_of(base));
  advanced_index p = selection_in(c, sums, first, at, selected_at);
  accumulate_selection(p, values, accumulation::add, /*deterministic=*/true, "grad");
  return sums;
}

ndarray written(const opaque_case& c, const ndarray& base, const operand& values, std::size_t first, std::size_t at,
                int64_t selected_at) {
  const ndarray out = wrap(value_of(base));
  advanced_index p = selection_in(c, out, first, at, selected_at);
  write_selection(p, values, "grad");
  return out;
}

// ---- read_selection: the array, then index arrays; numbers: the place of the selected axes, then those of the axes

std::vector<ndarray> read_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {selected(c, t[0], 1, 1, c.number(0))};
}
std::vector<ndarray> read_backward(const opaque_case& c, std::span<const ndarray> g) {
  return {added(c, zeros_of(c.x[0]), g[0], 1, 1, c.number(0))};
}

// ---- write_selection

constexpr std::size_t first_index = 2, first_axis = 4;
enum class write_kind : int64_t { set, add, max, min };
write_kind kind_of(const opaque_case& c) { return static_cast<write_kind>(c.number(0)); }

/// Which of the values were written last at their element: of equal indices the last one stays.
ndarray is_last(const opaque_case& c) {
  const value v = value_of(c.x[1]);
  const ndarray order = wrap(reshape_value(graph::record_iota(dims{v->size()}, 0, v->device), v->shape));
  const ndarray nobody = full(c.x[0].shape(), -1, {.dtype = int64, .device = c.x[0].device()});
  const ndarray last = written(c, nobody, order, first_index, first_axis, c.number(3));
  return equal(selected(c, last, first_index, first_axis, c.number(3)), order);
}

/// Shares of an extremum: of the old element and of each value, 1 over the number of those that equal the new one.
struct shares {
  ndarray old, values;
};
shares shares_of(const opaque_case& c) {
  const dtype type = c.y[0].dtype();
  const ndarray from_old = equal(c.x[0], c.y[0]).astype(type);
  const ndarray from_value = equal(c.x[1], selected(c, c.y[0], first_index, first_axis, c.number(3))).astype(type);
  const ndarray number = added(c, from_old, from_value, first_index, first_axis, c.number(3));
  return {from_old / maximum(number, 1),
          from_value / maximum(selected(c, number, first_index, first_axis, c.number(3)), 1)};
}

std::vector<ndarray> write_backward(const opaque_case& c, std::span<const ndarray> g) {
  const auto picked = [&] { return selected(c, g[0], first_index, first_axis, c.number(3)); };
  std::vector<ndarray> out(c.x.size());
  switch (kind_of(c)) {
    case write_kind::set:
      if (c.wanted[0]) out[0] = written(c, g[0], 0, first_index, first_axis, c.number(3));
      if (c.wanted[1]) out[1] = c.number(2) != 0 ? picked() : where(is_last(c), picked(), 0);
      break;
    case write_kind::add:
      out[0] = g[0];
      if (c.wanted[1]) out[1] = picked();
      break;
    default: {
      const shares s = shares_of(c);
      out[0] = g[0] * s.old;
      out[1] = picked() * s.values;
    }
  }
  return out;
}

std::vector<ndarray> write_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray base = t[0].defined() ? t[0] : zeros_of(c.x[0]), values = t[1].defined() ? t[1] : zeros_of(c.x[1]);
  switch (kind_of(c)) {
    case write_kind::set: return {written(c, base, values, first_index, first_axis, c.number(3))};
    case write_kind::add: return {added(c, base, values, first_index, first_axis, c.number(3))};
    default: {
      const shares s = shares_of(c);
      return {added(c, base * s.old, values * s.values, first_index, first_axis, c.number(3))};
    }
  }
}

// ---- elements where flags are true

std::vector<ndarray> true_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray both[] = {t[0], c.x[1]};
  return c.call.again(both);
}
std::vector<ndarray> true_backward(const opaque_case& c, std::span<const ndarray> g) {
  const ndarray all = zeros_of(c.x[0]);
  all(reshape(c.x[1], c.x[0].shape())) = g[0];
  return {all, {}};
}

std::vector<ndarray> repeat_forward(const opaque_case& c, std::span<const ndarray> t) {
  const int64_t axis = c.number(0);
  const ndarray numbers = arange(c.x[0].shape(axis), {.device = c.x[0].device()});
  const ndarray both[] = {numbers, c.x[1]};
  return {take(t[0], repeat(both[0], both[1], 0), axis)};
}

// ---- recorded calls: roll with the axis and the distance, pad with the widths before and behind each axis

std::vector<ndarray> roll_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {roll(t[0], c.number(1), axes{c.number(0)})};
}
std::vector<ndarray> roll_backward(const opaque_case& c, std::span<const ndarray> g) {
  return {roll(g[0], -c.number(1), axes{c.number(0)})};
}

/// Where the array is in the padded one.
affine_view inner_region(const opaque_case& c) {
  affine_view inside{value_of(c.y[0])->shape, value_of(c.x[0])->shape, {}, 0};
  inside.strides = core::contiguous_strides(inside.base);
  for (int a = 0; a < inside.base.size(); ++a)
    inside.offset += c.number(2 * static_cast<std::size_t>(a)) * inside.strides[a];
  return inside;
}
std::vector<ndarray> pad_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {wrap(spread(inner_region(c), value_of(t[0])))};
}
std::vector<ndarray> pad_backward(const opaque_case& c, std::span<const ndarray> g) {
  const affine_view inside = inner_region(c);
  return {wrap(graph::record_view(value_of(g[0]), inside.shape, inside.strides, inside.offset))};
}

// ---- copies

std::vector<ndarray> move_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {t[0].to_device(c.y[0].device())};
}
std::vector<ndarray> move_backward(const opaque_case& c, std::span<const ndarray> g) {
  return {g[0].to_device(c.x[0].device())};
}
std::vector<ndarray> same(const opaque_case&, std::span<const ndarray> d) { return {d[0]}; }

}  // namespace

std::span<const opaque_rule> opaque_rules_of_selections() {
  static constexpr opaque_rule rules[] = {
      {"read_selection", read_forward, read_backward},
      {"write_selection", write_forward, write_backward},
      {"true_elements", true_forward, true_backward},
      {"true_positions", nullptr, nullptr, "the result is an integer"},
      {"repeat", repeat_forward, nullptr},
      {"roll", roll_forward, roll_backward},
      {"pad", pad_forward, pad_backward},
      {"to_device", move_forward, move_backward},
      {"to_memory", same, same},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
