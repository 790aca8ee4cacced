// Searches in ordered arrays: elementwise functions with the ordered array as a raw argument.
#include "sinter/search.hpp"

#include <array>
#include <atomic>
#include <string>

#include "graph/values/record.hpp"
#include "jit/program/user_function.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/reduce/search_text.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// One of the two searches: what differs between them.
struct search_text {
  const char *name, *table, *body, *lanes;  // lanes: sn_lanes_of_name
};
constexpr search_text of_array = {"searchsorted", "sorted", search_body, search_lanes};
constexpr search_text of_bins = {"digitize", "bins", digitize_body, digitize_lanes};

/// int64 f(T x, raw T table, bool right)
const jit::user_function* make_search(const search_text& text, dtype type) {
  jit::user_function f;
  f.name = text.name;
  f.preamble = std::string(is_complex(type) ? complex_order : real_order) + lane_searches + text.lanes;
  f.body = text.body;
  f.returns = true;
  f.inputs.push_back({.name = "x", .type = type, .opaque = {}});
  f.inputs.push_back({.name = text.table, .type = type, .raw = true, .rank = 1, .opaque = {}});
  f.inputs.push_back({.name = "right", .type = dtype::b1, .opaque = {}});
  f.outputs.push_back({.name = "sn_result", .type = dtype::i64, .opaque = {}});
  return jit::intern(std::move(f));
}

/// Remembers the functions of a search, one for each dtype.
class search_functions {
 public:
  explicit constexpr search_functions(const search_text& text) : text_(text) {}
  const jit::user_function* of(dtype type) {
    std::atomic<const jit::user_function*>& known = known_[static_cast<std::size_t>(type)];
    const jit::user_function* f = known.load(std::memory_order_acquire);
    if (f == nullptr) known.store(f = make_search(text_, type), std::memory_order_release);
    return f;
  }

 private:
  const search_text& text_;
  std::array<std::atomic<const jit::user_function*>, dtype_count> known_{};
};

constinit search_functions array_searches(of_array), bin_searches(of_bins);

/// The places of `x` in a table of its dtype, recorded.
ndarray places(search_functions& searches, const graph::value& x, const graph::value& table, bool right,
               const char* function) {
  const graph::value side = graph::record_scalar(scalar_of(right, dtype::b1, function), dtype::b1, dims(), x->device);
  return wrap(graph::record_call(searches.of(x->type), 0, x->shape, {x, table, side}));
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
  return places(array_searches, to_value(v, type, dims(), device, "searchsorted"),
                to_value(sorted, type, dims(), device, "searchsorted"), kw.side == "right", "searchsorted");
}

ndarray digitize(const ndarray& x, const ndarray& bins, const digitize_kw& kw) {
  require_vector(view_of(bins, "digitize").shape, "digitize", "bins");
  const operand element(x), edges(bins);
  const operand* const both[] = {&element, &edges};
  const dtype type = loop_dtype(loop_rule::ordered, result_type_of(both, "digitize"), "digitize");
  common_device(both, "digitize");
  if (auto r = intercept("digitize", {&x, &bins}, {kw.right},
                         [=](std::span<const ndarray> a) { return results_of(digitize(a[0], a[1], kw)); }))
    return (*r)[0];
  return places(bin_searches, value_of(x.astype(type, false)), value_of(bins.astype(type, false)), kw.right,
                "digitize");
}

}  // namespace sinter::inline v0
