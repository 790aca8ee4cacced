// Distributions: which random operation is drawn, and the arithmetic applied to it.
#include <cmath>
#include <vector>

#include "core/shape.hpp"
#include "graph/values/example.hpp"
#include "ops/derivatives/distribution_slopes.hpp"
#include "ops/random/composed.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {
draw_space draw_space_of(const random::draw_size& size, const std::optional<device>& where, operands parameters,
                         const char* function) {
  draw_space space;
  bool arrays = false;
  for (const operand* p : parameters) arrays = arrays || p->is_array();
  space.device = arrays ? common_device(parameters, function) : chosen(where);
  if (arrays && where && chosen(where) != space.device)
    fail<device_error>(function, "parameters are on ", space.device, ", but the draw is wanted on ", *where);
  const dims own = broadcast_shapes(parameters, function);
  space.shape = size.given() ? to_dims(size.shape()) : own;
  core::checked_count(space.shape, function);
  if (!core::broadcasts_to(own, space.shape))
    fail<shape_error>(function, "parameters of shape ", own, " do not broadcast to size ", space.shape);
  return space;
}

dtype draw_dtype(const std::optional<dtype>& wanted, const char* function) {
  const dtype type = wanted.value_or(float64);
  if (!is_real_floating(type)) fail<dtype_error>(function, "draws floating-point numbers, not ", type);
  return type == float64 ? float64 : float32;
}

graph::random_stream stream_of(random::generator& g, jit::opcode op, dtype type, const draw_space& space) {
  return random::generator::access::take(g, graph::blocks_of_draw(op, type, core::element_count(space.shape)));
}

value drawn(random::generator& g, jit::opcode op, dtype type, const draw_space& space,
            std::initializer_list<value> parameters) {
  const graph::random_stream stream = stream_of(g, op, type, space);
  return graph::record_draw(op, type, space.shape, stream, parameters, space.device);
}

}  // namespace sinter::ops

namespace sinter::inline v0::random {

using namespace ops;

namespace {

/// A draw of floats: shape, device, dtype and the function for error messages.
class float_draw {
 public:
  float_draw(const char* function, const draw_size& size, const draw_kw& kw, operands parameters)
      : function_(function),
        type_(draw_dtype(kw.dtype, function)),
        wanted_(kw.dtype.value_or(float64)),
        space_(draw_space_of(size, kw.device, parameters, function)) {}

  dtype type() const noexcept { return type_; }
  value parameter(const operand& x) const { return to_value(x, type_, dims(), space_.device, function_); }
  value elements(generator& g, jit::opcode op, std::initializer_list<value> parameters = {}) const {
    return drawn(g, op, type_, space_, parameters);
  }
  value map(jit::opcode op, const value& a) const { return graph::record_map(op, type_, space_.shape, {a}); }
  value map(jit::opcode op, const value& a, const value& b) const {
    return graph::record_map(op, type_, space_.shape, {a, b});
  }
  value scaled(const value& x, const operand& scale) const {
    return is_number(scale, 1) ? x : map(jit::opcode::multiply, x, parameter(scale));
  }
  value moved(const value& x, const operand& loc) const {
    return is_number(loc, 0) ? x : map(jit::opcode::add, x, parameter(loc));
  }
  ndarray result(const value& x) const { return wrap(graph::record_cast(x, wanted_)); }
  const draw_space& space() const noexcept { return space_; }

 private:
  static bool is_number(const operand& x, double v) {
    return !x.is_array() && x.number().kind() != scalar_kind::complex && x.number().real() == v;
  }
  const char* function_;
  dtype type_, wanted_;
  draw_space space_;
};

bool has_no_sign(double x) { return !(x < 0) && !std::signbit(x); }

void check_scale(const operand& scale, const char* function) {
  check_number(scale, function, "scale must not be negative", has_no_sign);
}

ndarray location_and_scale(const char* function, generator& g, jit::opcode op, const operand& loc, const operand& scale,
                           const draw_size& size, const draw_kw& kw) {
  check_scale(scale, function);
  const float_draw d(function, size, kw, {&loc, &scale});
  return d.result(d.moved(d.scaled(d.elements(g, op), scale), loc));
}

/// A draw of one example is a value of its own, which derivatives do not follow to its parameters: it moves with them.
value followed(const char* function, const value& drawn, const std::vector<value>& parameters,
               const draw_slopes& slopes) {
  if (!graph::is_example(drawn)) return drawn;
  std::vector<ndarray> all;
  for (const value& p : parameters) all.push_back(wrap(p));
  return value_of(moving_draw(function, constant_parameter(wrap(drawn)), all, slopes));
}

}  // namespace

ndarray generator::random(const draw_size& size, const draw_kw& kw) {
  const float_draw d("random", size, kw, {});
  return d.result(d.elements(*this, jit::opcode::random_uniform));
}

ndarray generator::uniform(const operand& low, const operand& high, const draw_size& size, const draw_kw& kw) {
  const float_draw d("uniform", size, kw, {&low, &high});
  const value u = d.elements(*this, jit::opcode::random_uniform);
  if (!low.is_array() && !high.is_array()) {
    // The range is computed in float64 before it is rounded to the dtype.
    check_number(low, "uniform", "low must be a real number", [](double) { return true; });
    const double first = low.number().real();
    check_number(high, "uniform", "high - low must be finite and not negative",
                 [&](double last) { return std::isfinite(last - first) && last >= first; });
    return d.result(d.moved(d.scaled(u, high.number().real() - first), low));
  }
  const value from = d.parameter(low), range = map_of(jit::opcode::subtract, d.type(), d.parameter(high), from);
  return d.result(d.map(jit::opcode::add, d.map(jit::opcode::multiply, u, range), from));
}

ndarray generator::standard_normal(const draw_size& size, const draw_kw& kw) {
  const float_draw d("standard_normal", size, kw, {});
  return d.result(d.elements(*this, jit::opcode::random_normal));
}

ndarray generator::normal(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  return location_and_scale("normal", *this, jit::opcode::random_normal, loc, scale, size, kw);
}

ndarray generator::lognormal(const operand& mean, const operand& sigma, const draw_size& size, const draw_kw& kw) {
  check_number(sigma, "lognormal", "sigma must not be negative", has_no_sign);
  const float_draw d("lognormal", size, kw, {&mean, &sigma});
  const value normal = d.moved(d.scaled(d.elements(*this, jit::opcode::random_normal), sigma), mean);
  return d.result(d.map(jit::opcode::exp, normal));
}

ndarray generator::standard_exponential(const draw_size& size, const draw_kw& kw) {
  const float_draw d("standard_exponential", size, kw, {});
  return d.result(d.elements(*this, jit::opcode::random_exponential));
}

ndarray generator::exponential(const operand& scale, const draw_size& size, const draw_kw& kw) {
  return location_and_scale("exponential", *this, jit::opcode::random_exponential, 0.0, scale, size, kw);
}

// The magnitude is exponential. The sign is the last bit of the same word, which the magnitude does not use.
ndarray generator::laplace(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_scale(scale, "laplace");
  const float_draw d("laplace", size, kw, {&loc, &scale});
  const opcode exponential = jit::opcode::random_exponential;
  const graph::random_stream stream = stream_of(*this, exponential, d.type(), d.space());
  const value magnitude = graph::record_draw(exponential, d.type(), d.space().shape, stream, {}, d.space().device);
  const dtype word = d.type() == float32 ? uint32 : uint64;
  const value bits = graph::record_draw(jit::opcode::random_bits, word, d.space().shape, stream, {}, d.space().device);
  const value last = map_of(jit::opcode::bitwise_and, word, bits,
                            graph::record_scalar(scalar_of(1, word, "laplace"), word, dims(), d.space().device));
  const value variate = select_of(truth_of(last), magnitude, d.map(jit::opcode::negative, magnitude));
  return d.result(d.moved(d.scaled(variate, scale), loc));
}

ndarray generator::standard_gamma(const operand& shape, const draw_size& size, const draw_kw& kw) {
  return gamma(shape, 1.0, size, kw);
}

ndarray generator::gamma(const operand& shape, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(shape, "gamma", "shape must be finite and not negative",
               [](double x) { return has_no_sign(x) && std::isfinite(x); });
  check_scale(scale, "gamma");
  const float_draw d("gamma", size, kw, {&shape, &scale});
  const value a = d.parameter(shape), drawn = d.elements(*this, jit::opcode::random_gamma, {a});
  const value x = followed("gamma", drawn, {a}, [](const std::vector<ndarray>& p, const ndarray& y) {
    return std::vector<ndarray>{-derivatives::gamma_slope_by_density(p[0], y)};
  });
  return d.result(d.scaled(x, scale));
}

ndarray generator::beta(const operand& a, const operand& b, const draw_size& size, const draw_kw& kw) {
  for (const operand* x : {&a, &b})
    check_number(*x, "beta", "a and b must be positive and finite", [](double v) { return v > 0 && std::isfinite(v); });
  const float_draw d("beta", size, kw, {&a, &b});
  const value first = d.parameter(a), second = d.parameter(b);
  const value drawn = d.elements(*this, jit::opcode::random_beta, {first, second});
  return d.result(followed("beta", drawn, {first, second}, [](const std::vector<ndarray>& p, const ndarray& y) {
    const ndarray rest = 1 - y;
    return std::vector<ndarray>{-derivatives::beta_slope_by_density(p[0], p[1], y, rest),
                                derivatives::beta_slope_by_density(p[1], p[0], rest, y)};
  }));
}

}  // namespace sinter::inline v0::random
