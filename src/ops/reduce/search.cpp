// Binary search as an elementwise function with the sorted array as a raw argument.
#include "sinter/search.hpp"

#include <string>

#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/kernel.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

// The order of sort: NaN after every number, complex numbers by real part, then imaginary part.
// past: whether a search for x goes on behind an element s. For a number that is one comparison.
constexpr const char* real_order = R"(
template <class V> __device__ bool before(V a, V b) { return bool(int(a < b) | (int(b != b) & int(a == a))); }
template <class V> __device__ bool is_number(V x) { return x == x; }
template <class V> __device__ bool past(V s, V x, bool right) { return right ? s <= x : s < x; }
)";
constexpr const char* complex_order = R"(
template <class V> __device__ bool before(V a, V b) {
  auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  if (ar < br) return ai == ai || bi != bi;
  if (ar > br) return bi != bi && ai == ai;
  if (ar == br || (ar != ar && br != br)) return ai < bi || (bi != bi && ai == ai);
  return br != br;
}
template <class V> __device__ bool is_number(V) { return true; }
template <class V> __device__ bool past(V s, V x, bool right) { return right ? !before(x, s) : before(s, x); }
)";
// Where a thread of the host found its last element in a table, and of its last four searches there which ended a little behind the
// one before: a bit each. It changes how long a search takes, not what it finds. A kernel that searches several tables in turn has
// a place for each, by their addresses; two that share one take longer.
constexpr const char* last_place = R"(
#ifndef __CUDACC__
struct sn_place { long long at; unsigned near; };
template <class R> static inline auto sn_address(const R& table, int) -> decltype((unsigned long long)(table.data)) {
  return (unsigned long long)(table.data);
}
template <class R> static inline unsigned long long sn_address(const R&, long) { return 0; }
static inline sn_place& sn_last_place(unsigned long long address) {
  static thread_local sn_place places[16];
  return places[address * 0x9e3779b97f4a7c15ull >> 60];
}
#endif
)";
// The number of steps depends on the length alone, and a step selects instead of branching: the processor works on
// several elements at a time. On the host elements in order, as interpolation has them, begin where the one before them ended:
// the range is doubled until it holds the element.
constexpr const char* search_body = R"(
  long long low = 0, rest = sorted.size();
  if (!is_number(x)) {  // behind every number
    while (rest > 0 && !right) {
      long long half = (rest + 1) / 2;
      low += is_number(sorted[low + half - 1]) ? half : 0;
      rest -= half;
    }
    return low + rest;
  }
#ifndef __CUDACC__
  sn_place& last = sn_last_place(sn_address(sorted, 0));
  const long long from = last.at;
  if (last.near == 15u && from <= rest) {
    T first = from > 0 ? sorted[from - 1] : x;
    if (from == 0 || past(first, x, right)) {
      long long step = 1, count = rest;
      for (low = from; step <= 64 && low + step <= count; step *= 2) {
        T s = sorted[low + step - 1];
        if (!past(s, x, right)) break;
        low += step;
      }
      rest = step <= 64 && low + step <= count ? step - 1 : count - low;
    }
  }
#endif
  // Two loops, so that a step is a comparison and an addition.
  unsigned long long at = low, left = rest;
  if (right) {
    while (left > 0) {
      const unsigned long long half = (left + 1) >> 1;
      at += past(T(sorted[(long long)(at + half - 1)]), x, true) ? half : 0;
      left -= half;
    }
  } else {
    while (left > 0) {
      const unsigned long long half = (left + 1) >> 1;
      at += past(T(sorted[(long long)(at + half - 1)]), x, false) ? half : 0;
      left -= half;
    }
  }
  low = (long long)(at);
#ifndef __CUDACC__
  const unsigned long long behind = (unsigned long long)(low) - (unsigned long long)(from);
  last.near = (last.near << 1 | unsigned(behind <= 128)) & 15u;
  last.at = low;
#endif
  return low;)";
constexpr const char* digitize_body = R"(
  long long n = bins.size(), low = 0, rest = n;
  bool descending = n > 1 && before(bins[n - 1], bins[0]), number = is_number(x);
  while (rest > 0) {
    long long half = (rest + 1) / 2, middle = low + half - 1;
    T s = bins[descending ? n - 1 - middle : middle];
    low += (number ? past(s, x, !right) : (!right || is_number(s))) ? half : 0;
    rest -= half;
  }
  return descending ? n - low : low;)";

const function& search_function(bool of_complex) {
  static const auto& real = *new function("int64 searchsorted(T x, raw T sorted, bool right)", search_body,
                                          {.preamble = std::string(real_order) + last_place});
  static const auto& complex = *new function("int64 searchsorted(T x, raw T sorted, bool right)", search_body,
                                             {.preamble = std::string(complex_order) + last_place});
  return of_complex ? complex : real;
}

void require_vector(const dims& shape, const char* function, const char* what) {
  if (shape.size() != 1) fail<shape_error>(function, what, " must have one axis, not shape ", shape);
}

/// The array in the order that its sorter gives.
ndarray in_order(const ndarray& a, const ndarray& sorter) {
  const graph::array_view& s = view_of(sorter, "searchsorted");
  require_vector(s.shape, "searchsorted", "sorter");
  if (!is_integer(s.type)) fail<dtype_error>("searchsorted", "sorter must hold integers, not ", s.type);
  if (s.shape[0] != view_of(a, "searchsorted").shape[0])
    fail<shape_error>("searchsorted", "sorter of shape ", s.shape, " for an array of shape ",
                      view_of(a, "searchsorted").shape);
  return take(a, sorter);
}

}  // namespace

ndarray searchsorted(const ndarray& a, const operand& v, const searchsorted_kw& kw) {
  if (kw.side != "left" && kw.side != "right")
    fail<value_error>("searchsorted", "side must be \"left\" or \"right\", not \"", kw.side, "\"");
  require_vector(view_of(a, "searchsorted").shape, "searchsorted", "the sorted array");
  const ndarray ordered = kw.sorter.defined() ? in_order(a, kw.sorter) : a;
  if (is_intercepting() &&
      v.is_array()) {  // announced in the order of the sorter, with whether the side is the right one
    const bool right = kw.side == "right";
    if (auto r = intercept("searchsorted", {&ordered, &v.array()}, {right}, [right](std::span<const ndarray> o) {
          return results_of(searchsorted(o[0], o[1], {.side = right ? "right" : "left"}));
        }))
      return (*r)[0];
  }
  const operand sorted(ordered);
  const operand* const both[] = {&sorted, &v};
  const auto [type, out_of_range] = strong_type_of(sorted, v, "searchsorted");
  const auto device = common_device(both, "searchsorted");
  if (out_of_range != 0) {
    const std::int64_t at = out_of_range < 0 ? 0 : a.size();
    return wrap(graph::record_scalar(scalar_of(at, dtype::i64, "searchsorted"), dtype::i64, dims(), device));
  }
  return search_function(is_complex(type))(wrap(to_value(v, type, dims(), device, "searchsorted")),
                                           wrap(to_value(sorted, type, dims(), device, "searchsorted")),
                                           kw.side == "right");
}

ndarray digitize(const ndarray& x, const ndarray& bins, const digitize_kw& kw) {
  static const auto& f =
      *new function("int64 digitize(T x, raw T bins, bool right)", digitize_body, {.preamble = real_order});
  require_vector(view_of(bins, "digitize").shape, "digitize", "bins");
  const operand element(x), edges(bins);
  const operand* const both[] = {&element, &edges};
  const dtype type = loop_dtype(loop_rule::ordered, result_type_of(both, "digitize"), "digitize");
  common_device(both, "digitize");
  if (auto r = intercept("digitize", {&x, &bins}, {kw.right},
                         [=](std::span<const ndarray> a) { return results_of(digitize(a[0], a[1], kw)); }))
    return (*r)[0];
  return f(x.astype(type, false), bins.astype(type, false), kw.right);
}

}  // namespace sinter::inline v0
