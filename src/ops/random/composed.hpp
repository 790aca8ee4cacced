// What draws that are composed of others share: shapes and dtypes of results, and derivatives of draws that a choice decides.
#pragma once
#include <functional>
#include <vector>

#include "ops/base/at_call.hpp"
#include "ops/random/draw.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/random.hpp"

namespace sinter::ops {

/// A draw: its shape and device, checked, and the dtype of its result.
struct composed_draw {
  composed_draw(const char* function, const random::draw_size& size, const random::draw_kw& kw, operands parameters)
      : space(draw_space_of(size, kw.device, parameters, function)),
        shape(to_shape(space.shape)),
        type(kw.dtype.value_or(float64)),
        real{.dtype = draw_dtype(kw.dtype, function), .device = to_public(space.device)} {}

  draw_space space;
  random::draw_size shape;
  dtype type;
  random::draw_kw real;  // of the draws that it is composed of

  ndarray result(const ndarray& x) const { return broadcast_to_shape(x).astype(type, false); }
  ndarray broadcast_to_shape(const ndarray& x) const {
    return wrap(broadcast_value(value_of(x, "random"), space.shape));
  }
};

/// The same for integers, which are composed of float64 draws.
struct composed_count {
  composed_count(const char* function, const random::draw_size& size, const random::draw_kw& kw, operands parameters)
      : of(function, size, random::draw_kw{.device = kw.device}, parameters), type(kw.dtype.value_or(int64)) {
    if (!is_integer(type)) fail<dtype_error>(function, "draws integers, not ", type);
  }
  composed_draw of;
  dtype type;

  ndarray result(const ndarray& x) const { return of.broadcast_to_shape(x.astype(int64, false)).astype(type, false); }
};

inline bool is_positive(double x) { return x > 0; }
inline bool is_not_negative(double x) { return x >= 0; }

inline ndarray array_of(const operand& x, const composed_draw& w) {
  return x.is_array() ? x.array() : full({}, x, {.dtype = float64, .device = to_public(w.space.device)});
}

/// Whether a condition holds for any element, within a vmap of any example.
bool holds_for_any(const ndarray& condition);

/// A parameter as floating-point numbers.
ndarray real_parameter(const operand& x, const composed_draw& w);
/// The same, as a constant where a derivative follows what is recorded.
ndarray constant_parameter(const ndarray& x);

/// Derivatives of a draw with respect to its parameters, of these and the draw.
using draw_slopes = std::function<std::vector<ndarray>(const std::vector<ndarray>& parameters, const ndarray& draw)>;

/// A draw that does not follow its parameters continuously: which of several numbers it is depends on them. `draw` has been made
/// of constant ones; the result is the draw, and moves with the parameters by `slopes`, so that gradients of expectations are
/// right. Parameters without a slope (undefined) are constants that the others need.
ndarray moving_draw(const char* function, const ndarray& draw, const std::vector<ndarray>& parameters,
                    const draw_slopes& slopes);

}  // namespace sinter::ops
