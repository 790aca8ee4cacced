// Bits packed into bytes, and out of them.
//
// Where memory can be read as words, eight elements are one of 64 bits: on a CPU, whose loops along eight elements cost more than
// the elements. Few elements are moved there one by one, at the call. Elsewhere a sum over eight shifted bits, which records and
// fuses.
#include <utility>

#include "core/shape.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/at_call.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/numerics.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

void check_order(std::string_view order, const char* function) {
  if (order != "big" && order != "little")
    fail<value_error>(function, "the bitorder is 'big' or 'little', not '", order, "'");
}

constexpr std::int64_t least_words = 4096;  // elements

/// Whether elements are worth words.
bool in_words(const value& v) {
  return v->size() >= least_words && v->device.kind == runtime::device_kind::cpu && may_look_at(v);
}

/// The value of each bit of a byte, along the last axis, or how far it is shifted.
ndarray bit_numbers(std::string_view order, const ndarray& like, const char* function) {
  check_order(order, function);
  const ndarray up = arange(8, {.dtype = uint8, .device = like.device()});
  return order == "little" ? up : 7 - up;
}

/// The array with the axis in question as the last one.
ndarray axis_last(const ndarray& x, const bits_kw& kw, const char* function) {
  if (!kw.axis) return ravel(x);
  normalize_axis(*kw.axis, view_of(x, function).shape, function);
  return moveaxis(x, *kw.axis, -1);
}
ndarray axis_back(const ndarray& x, const bits_kw& kw) { return kw.axis ? in_c_order(moveaxis(x, -1, *kw.axis)) : x; }

shape_t with_last(const ndarray& x, std::initializer_list<std::int64_t> last) {
  dims shape = to_dims(x.shape());
  shape.erase(shape.size() - 1);
  for (const std::int64_t n : last) shape.push_back(n);
  return to_shape(shape);
}

/// 1 for each byte of a word that is not 0: bools of memory of others need not be 0 or 1.
ndarray ones_of(const ndarray& words) {
  const std::uint64_t low = 0x7f7f7f7f7f7f7f7fu;
  return bitwise_and(right_shift(bitwise_or(bitwise_and(words, low) + low, words), 7), 0x0101010101010101u);
}

/// Whether a few elements of one byte are in the host's memory, or will be: their bits are moved at once, which costs less than to
/// record how.
bool are_few_at_hand(const value& v) {
  return v->size() < least_words && itemsize(v->type) == 1 && is_in_host_memory(v->device) && may_look_at(v);
}

/// Which bit of a byte the first element is, and the way to the next one.
struct bit_places {
  int first, step;
  explicit bit_places(std::string_view order) : first(order == "big" ? 7 : 0), step(order == "big" ? -1 : 1) {}
};

ndarray packed_at_once(const value& v, bit_places bit) {
  dims shape = v->shape;
  std::int64_t& last = shape[shape.size() - 1];
  const std::int64_t n = std::exchange(last, (last + 7) / 8), all = v->size();
  return wrap(made_at_once(v, shape, dtype::u8, [=](const void* elements, void* bytes) {
    const auto* from = static_cast<const unsigned char*>(elements);
    auto* to = static_cast<unsigned char*>(bytes);
    for (std::int64_t left = all; left > 0; left -= n)
      for (std::int64_t i = 0; i < n; i += 8) {
        unsigned byte = 0;
        for (int k = 0; k < 8 && i + k < n; ++k)
          byte |= static_cast<unsigned>(*from++ != 0) << (bit.first + bit.step * k);
        *to++ = static_cast<unsigned char>(byte);
      }
  }));
}

ndarray unpacked_at_once(const value& v, bit_places bit) {
  dims shape = v->shape;
  shape[shape.size() - 1] *= 8;
  return wrap(made_at_once(v, shape, dtype::u8, [=, n = v->size()](const void* bytes, void* elements) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    auto* to = static_cast<unsigned char*>(elements);
    for (std::int64_t i = 0; i < n; ++i)
      for (int k = 0; k < 8; ++k) *to++ = static_cast<unsigned char>(from[i] >> (bit.first + bit.step * k) & 1);
  }));
}

/// Eight elements for each byte.
ndarray all_bits(const ndarray& bytes, std::string_view order) {
  const shape_t shape = with_last(bytes, {bytes.shape(-1) * 8});
  const value v = value_of(bytes);
  if (are_few_at_hand(v)) {
    check_order(order, "unpackbits");
    return unpacked_at_once(v, bit_places(order));
  }
  const ndarray numbers = bit_numbers(order, bytes, "unpackbits");
  if (in_words(v)) {
    // Copies of the byte in all of a word, of which each keeps its bit; what is not zero then becomes 1.
    const std::uint64_t bit = order == "big" ? 0x0102040810204080u : 0x8040201008040201u;
    const ndarray kept = bitwise_and(multiply(bytes.astype(uint64), 0x0101010101010101u), bit);
    if (const std::optional<ndarray> bits = as_words(ones_of(kept), uint8, to_dims(shape))) return *bits;
  }
  return reshape(bitwise_and(right_shift(expand_dims(bytes, -1), numbers), 1), shape);
}

}  // namespace

ndarray packbits(const ndarray& x, const bits_kw& kw) {
  if (is_inexact(view_of(x, "packbits").type)) fail<dtype_error>("packbits", "dtype ", x.dtype(), " is not supported");
  check_order(kw.bitorder, "packbits");
  ndarray bits = axis_last(x, kw, "packbits");
  if (const value v = value_of(bits); are_few_at_hand(v))
    return axis_back(packed_at_once(v, bit_places(kw.bitorder)), kw);
  const bool by_words = in_words(value_of(bits));
  if (!by_words || itemsize(bits.dtype()) != 1) bits = not_equal(bits, 0);
  const std::int64_t n = bits.shape(-1), bytes = (n + 7) / 8;
  if (n % 8 != 0)
    bits =
        concatenate({bits, zeros(with_last(bits, {bytes * 8 - n}), {.dtype = bits.dtype(), .device = x.device()})}, -1);
  std::optional<ndarray> words;
  if (by_words) words = as_words(bits, uint64, to_dims(with_last(bits, {bytes})));
  if (words) {
    // Byte k of a word times 2^(63 - 9k) comes to bit 63 - k, times 2^(56 - 7k) to bit 56 + k, and no carry comes between.
    const std::uint64_t gather = kw.bitorder == "big" ? 0x8040201008040201u : 0x0102040810204080u;
    const ndarray packed = right_shift(multiply(ones_of(*words), gather), 56).astype(uint8);
    evaluated(value_of(packed));
    return axis_back(packed, kw);
  }
  if (by_words) bits = not_equal(bits, 0);
  const ndarray parts = reshape(bits, with_last(bits, {bytes, 8})).astype(uint8);
  const ndarray packed = sum(left_shift(parts, bit_numbers(kw.bitorder, x, "packbits")), -1, {.dtype = uint8});
  return axis_back(packed, kw);
}

ndarray unpackbits(const ndarray& x, const bits_kw& kw) {
  if (view_of(x, "unpackbits").type != uint8) fail<dtype_error>("unpackbits", "needs uint8, not ", x.dtype());
  const ndarray bytes = axis_last(x, kw, "unpackbits");
  const std::int64_t n = bytes.shape(-1) * 8;
  ndarray bits = all_bits(bytes, kw.bitorder);
  if (kw.count) {
    const std::int64_t wanted = *kw.count < 0 ? n + *kw.count : *kw.count;
    if (wanted < 0) fail<value_error>("unpackbits", "a count of ", *kw.count, " for ", n, " bits");
    if (wanted <= n) bits = in_c_order(slice_of(bits, bits.ndim() - 1, 0, wanted));
    else bits = concatenate({bits, zeros(with_last(bits, {wanted - n}), {.dtype = uint8, .device = x.device()})}, -1);
  }
  return axis_back(bits, kw);
}

}  // namespace sinter::inline v0
