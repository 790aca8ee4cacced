// Draws of integers.
#include <cmath>

#include "ops/random/draw.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0::random {

using namespace ops;

namespace {

using wide = __int128;

std::string text_of(wide x) {
  return x < 0 ? "-" + std::to_string(static_cast<std::uint64_t>(-x)) : std::to_string(static_cast<std::uint64_t>(x));
}

dtype integer_dtype(const std::optional<dtype>& wanted, const char* function, bool with_bool) {
  const dtype type = wanted.value_or(int64);
  if (!is_integer(type) && !(with_bool && is_bool(type))) fail<dtype_error>(function, "draws integers, not ", type);
  return type;
}

struct limits_of {
  wide lowest, highest;
  explicit limits_of(dtype t) {
    if (is_bool(t)) {
      lowest = 0, highest = 1;
    } else {
      const iinfo_t range = iinfo(t);
      lowest = range.min, highest = range.max;
    }
  }
};

/// A bound of integers(): an integer, or a float with an integer value.
wide bound_of(const scalar& x) {
  if (x.kind() == scalar_kind::integer || x.kind() == scalar_kind::boolean)
    return x.negative() ? static_cast<wide>(x.as_int64()) : static_cast<wide>(x.as_uint64());
  if (x.kind() != scalar_kind::floating || !(std::fabs(x.real()) < 0x1p65) || std::trunc(x.real()) != x.real())
    throw value_error("[integers] bounds must be whole numbers");
  return static_cast<wide>(x.real());
}

value unsigned_scalar(std::uint64_t v, dtype type, runtime::device_id device) {
  jit::scalar s;
  s.type = type;
  s.u = v;
  return graph::record_scalar(s, type, dims(), device);
}

void refuse_unless(bool holds, const std::string& message) {
  if (!holds) fail<value_error>("integers", message);
}

/// low (0 if null) + a number in [0, last], computed modulo the word size.
ndarray shifted(generator& g, const draw_space& space, dtype type, const value& low, const value& last) {
  const dtype word = last->type;
  const value n = drawn(g, jit::opcode::random_below, word, space, {last});
  if (!low) return wrap(graph::record_cast(n, type));
  const dtype sum = itemsize(type) > itemsize(word) ? uint64 : word;
  const value both =
      graph::record_map(jit::opcode::add, sum, space.shape, {graph::record_cast(n, sum), graph::record_cast(low, sum)});
  return wrap(graph::record_cast(both, type));
}

ndarray between_numbers(generator& g, const draw_space& space, dtype type, wide low, wide high) {
  const limits_of range(type);
  refuse_unless(low >= range.lowest, "low is out of bounds for " + std::string(name(type)));
  refuse_unless(high <= range.highest, "high is out of bounds for " + std::string(name(type)));
  refuse_unless(low <= high, "there is no number from " + text_of(low) + " to " + text_of(high));
  const auto last = static_cast<std::uint64_t>(high - low);
  const dtype word = last <= 0xffffffffu ? uint32 : uint64;
  const dtype sum = itemsize(type) > itemsize(word) ? uint64 : word;
  const value from = low == 0 ? value() : unsigned_scalar(static_cast<std::uint64_t>(low), sum, space.device);
  return shifted(g, space, type, from, unsigned_scalar(last, word, space.device));
}

/// Arrays of bounds, `high` included, compared in the widest type of the dtype's kind.
ndarray between_arrays(generator& g, const draw_space& space, dtype type, const ndarray& low, const ndarray& high) {
  const limits_of range(type);
  const bool is_unsigned = is_unsigned_integer(type);
  const auto outside = [&](const ndarray& x) {
    if (is_unsigned) return x > static_cast<std::uint64_t>(range.highest);
    return (x < static_cast<std::int64_t>(range.lowest)) | (x > static_cast<std::int64_t>(range.highest));
  };
  refuse_unless(!bool(any(outside(low) | outside(high))), "a bound is out of bounds for " + std::string(name(type)));
  refuse_unless(!bool(any(low > high)), "there is no number between some of the bounds");
  const dtype word = itemsize(type) > 4 ? uint64 : uint32;
  const value from = graph::record_cast(value_of(low), uint64), to = graph::record_cast(value_of(high), uint64);
  const value last = graph::record_cast(map_of(jit::opcode::subtract, uint64, to, from), word);
  return shifted(g, space, type, from, last);
}

/// A bound as an array of the widest integer dtype of the same kind.
ndarray bound_array(const operand& x, dtype widest, const draw_space& space) {
  if (x.is_array()) {
    const dtype t = x.array().dtype();
    if (!is_integer(t) && !is_bool(t)) fail<dtype_error>("integers", "bounds must be integers, not ", t);
    if (is_unsigned_integer(widest) && is_signed_integer(t))
      refuse_unless(!bool(any(x.array() < 0)), "a bound is out of bounds for " + std::string(name(widest)));
    if (!is_unsigned_integer(widest) && t == uint64)
      refuse_unless(!bool(any(x.array() > INT64_MAX)), "a bound is out of bounds for " + std::string(name(widest)));
    return x.array().astype(widest, false);
  }
  const limits_of range(widest);
  const wide v = bound_of(x.number());
  refuse_unless(v >= range.lowest && v <= range.highest, "a bound is out of bounds for " + std::string(name(widest)));
  return wrap(unsigned_scalar(static_cast<std::uint64_t>(v), widest, space.device));
}

}  // namespace

ndarray generator::integers(const operand& low, const optional_operand& high, const draw_size& size,
                            const integers_kw& kw) {
  const dtype type = integer_dtype(kw.dtype, "integers", true);
  const operand zero = 0;
  const operand& from = high ? low : zero;
  const operand& to = high ? *high : low;
  const draw_space space = draw_space_of(size, kw.device, {&from, &to}, "integers");
  const int excluded = kw.endpoint ? 0 : 1;
  if (!from.is_array() && !to.is_array())
    return between_numbers(*this, space, type, bound_of(from.number()), bound_of(to.number()) - excluded);
  const dtype widest = is_unsigned_integer(type) ? uint64 : int64;
  ndarray first = bound_array(from, widest, space), last = bound_array(to, widest, space);
  if (excluded) {
    refuse_unless(!bool(any(last <= first)), "low >= high");
    last = last - 1;
  }
  return between_arrays(*this, space, type, first, last);
}

ndarray generator::poisson(const operand& lam, const draw_size& size, const draw_kw& kw) {
  const dtype type = integer_dtype(kw.dtype, "poisson", false);
  check_number(lam, "poisson", "lam must be in [0, 9.2233720064847708e18]",
               [](double x) { return x >= 0 && x <= 9.2233720064847708e18; });
  const draw_space space = draw_space_of(size, kw.device, {&lam}, "poisson");
  const value mean = to_value(lam, float64, dims(), space.device, "poisson");
  return wrap(graph::record_cast(drawn(*this, jit::opcode::random_poisson, int64, space, {mean}), type));
}

ndarray generator::binomial(const operand& n, const operand& p, const draw_size& size, const draw_kw& kw) {
  const dtype type = integer_dtype(kw.dtype, "binomial", false);
  if (n.is_array() ? !is_integer(n.array().dtype()) && !is_bool(n.array().dtype())
                   : n.number().kind() > scalar_kind::integer)
    throw dtype_error("[binomial] n must be an integer");
  check_number(n, "binomial", "n must not be negative", [](double x) { return x >= 0; });
  check_number(p, "binomial", "p must be in [0, 1]", [](double x) { return x >= 0 && x <= 1; });
  const draw_space space = draw_space_of(size, kw.device, {&n, &p}, "binomial");
  const value trials = to_value(n, int64, dims(), space.device, "binomial");
  const value chance = to_value(p, float64, dims(), space.device, "binomial");
  return wrap(graph::record_cast(drawn(*this, jit::opcode::random_binomial, int64, space, {trials, chance}), type));
}

}  // namespace sinter::inline v0::random
