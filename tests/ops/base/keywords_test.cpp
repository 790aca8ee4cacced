// Keywords beside the arguments that most programs write, and the questions about arrays that NumPy has functions for: as NumPy 2.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "sinter/raw_file.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;
using sinter::idx::_;

optional_axis axis_at(const call& c, std::size_t i) {
  return c.n.size() > i ? optional_axis(c.integer(i)) : optional_axis(_);
}

/// A function into row 1 of a copy of the last array, or into its rows from 1 on, and the copy afterwards.
template <class F>
std::function<results(const call&)> into_row(F f) {
  return [f](const call& c) -> results {
    const ndarray y = c.x.back().copy();
    f(c.x.at(0), axis_at(c, 0), y(1));
    return {y};
  };
}
#define SCAN_OUT(name) \
  into_row([](const ndarray& x, optional_axis axis, const ndarray& out) { name(x, {.axis = axis, .out = out}); })
#define TRANSFORM_OUT(name)                                               \
  into_row([](const ndarray& x, optional_axis axis, const ndarray& out) { \
    const ndarray same = fft::name(x, {.axis = *axis, .out = out});       \
    CHECK(shares_memory(same, out));                                      \
  })
#define TRANSFORMS_OUT(name) \
  into_row([](const ndarray& x, optional_axis, const ndarray& out) { fft::name(x, {.out = out}); })

std::function<results(const call&)> about_a_mean(ndarray (*f)(const ndarray&, const var_kw&)) {
  return [f](const call& c) -> results {
    var_kw kw{.axis = c.axes_from(1), .ddof = c.n.at(0), .mean = c.x.at(1)};
    if (c.x.size() > 2) kw.where = c.x[2];
    return {f(c.x[0], kw)};
  };
}

ravel_index_kw modes_of(const call& c) {
  ravel_index_kw kw{.order = c.option.at(0)};
  for (std::size_t at = 1; at < c.option.size();) {
    const std::size_t end = std::min(c.option.find(' ', at + 1), c.option.size());
    kw.modes.push_back(std::string_view(c.option).substr(at + 1, end - at - 1));
    at = end;
  }
  return kw;
}

linspace_arrays_kw between(const call& c) { return {.endpoint = c.n.at(1) != 0, .axis = c.integer(2)}; }

triangle_kw triangle_of(const call& c) {
  return {.k = c.integer(1), .m = c.n.size() > 2 ? std::optional(c.integer(2)) : std::nullopt};
}

results summed(const call& c) {
  special::logsumexp_kw kw{.axis = c.axes_from(1), .keepdims = c.n.at(0) != 0};
  if (c.x.size() > 1) kw.b = c.x[1];
  const special::logsumexp_sign_result r = special::logsumexp_with_sign(c.x.at(0), kw);
  return {r.result, r.sign};
}

ndarray part_of(const ndarray& base, const call& c, std::size_t from) {
  const std::int64_t offset = c.integer(from), width = 4;
  return as_strided(base(slice(offset, _)),
                    {.shape = shape_t{c.integer(from + 1), c.integer(from + 2)},
                     .strides = std::vector<std::int64_t>{c.integer(from + 3) * width, c.integer(from + 4) * width}});
}

results from_bytes(const call& c) {
  const std::vector<std::byte> bytes = tobytes(c.x.at(0));
  return {frombuffer(bytes, c.x.at(1).dtype(), {.count = c.integer(0), .offset = c.integer(1)})};
}

ndarray truths(bool a, bool b) { return array({a, b}); }

}  // namespace

TEST_CASE("keywords, and questions about arrays, are NumPy's" * doctest::test_suite(sharded_suite)) {
  check_calls(
      "keywords.bin",
      {{"cumsum out", SCAN_OUT(cumsum)},
       {"cumprod out", SCAN_OUT(cumprod)},
       {"nancumsum out", SCAN_OUT(nancumsum)},
       {"nancumprod out", SCAN_OUT(nancumprod)},
       {"cumsum itself",
        [](const call& c) -> results {
          const ndarray y = c.x.at(0).copy();
          cumsum(y, {.axis = c.integer(0), .out = y});
          return {y};
        }},
       {"cumsum overlapping",
        [](const call& c) -> results {
          const ndarray y = concatenate({c.x.at(0)(0), c.x[0](1)});
          cumsum(y(slice(_, 6)), {.out = y(slice(2, _))});
          return {y};
        }},
       {"cumulative_sum out",
        [](const call& c) -> results {
          const ndarray y = c.x.at(1).copy();
          cumulative_sum(c.x[0], {.axis = c.integer(0), .include_initial = true, .out = y(slice(1, _))});
          return {y};
        }},
       {"fft out", TRANSFORM_OUT(fft)},
       {"ifft out", TRANSFORM_OUT(ifft)},
       {"rfft out", TRANSFORM_OUT(rfft)},
       {"irfft out", TRANSFORM_OUT(irfft)},
       {"hfft out", TRANSFORM_OUT(hfft)},
       {"ihfft out", TRANSFORM_OUT(ihfft)},
       {"fftn out", TRANSFORMS_OUT(fftn)},
       {"ifft2 out", TRANSFORMS_OUT(ifft2)},
       {"rfftn out", TRANSFORMS_OUT(rfftn)},
       {"irfft2 out", TRANSFORMS_OUT(irfft2)},
       {"flip", [](const call& c) { return results{flip(c.x.at(0), {.axis = axes(c.integers_from(0))})}; }},
       {"squeeze", [](const call& c) { return results{squeeze(c.x.at(0), {.axis = axes(c.integers_from(0))})}; }},
       {"expand_dims",
        [](const call& c) { return results{expand_dims(c.x.at(0), {.axis = axes(c.integers_from(0))})}; }},
       {"roll", [](const call& c) { return results{roll(c.x.at(0), c.integer(0), {.axis = c.axes_from(1)})}; }},
       {"transpose", [](const call& c) { return results{transpose(c.x.at(0), {.axes = axes(c.integers_from(0))})}; }},
       {"diagonal",
        [](const call& c) {
          return results{diagonal(c.x.at(0), {.offset = c.integer(0), .axis1 = c.integer(1), .axis2 = c.integer(2)})};
        }},
       {"cross",
        [](const call& c) {
          return results{
              cross(c.x.at(0), c.x.at(1), {.axisa = c.integer(0), .axisb = c.integer(1), .axisc = c.integer(2)})};
        }},
       {"tril_indices", [](const call& c) { return tril_indices(c.integer(0), triangle_of(c)); }},
       {"triu_indices", [](const call& c) { return triu_indices(c.integer(0), triangle_of(c)); }},
       {"var", about_a_mean([](const ndarray& x, const var_kw& kw) { return var(x, kw); })},
       {"std", about_a_mean([](const ndarray& x, const var_kw& kw) { return sinter::std(x, kw); })},
       {"nanvar", about_a_mean([](const ndarray& x, const var_kw& kw) { return nanvar(x, kw); })},
       {"nanstd", about_a_mean([](const ndarray& x, const var_kw& kw) { return nanstd(x, kw); })},
       {"var where", about_a_mean([](const ndarray& x, const var_kw& kw) { return var(x, kw); })},
       {"std where", about_a_mean([](const ndarray& x, const var_kw& kw) { return sinter::std(x, kw); })},
       {"nanvar where", about_a_mean([](const ndarray& x, const var_kw& kw) { return nanvar(x, kw); })},
       {"nanstd where", about_a_mean([](const ndarray& x, const var_kw& kw) { return nanstd(x, kw); })},
       {"meshgrid",
        [](const call& c) {
          return meshgrid(c.x, {.indexing = c.option, .sparse = c.n.at(0) != 0, .copy = c.n.at(1) != 0});
        }},
       {"unravel_index",
        [](const call& c) { return unravel_index(c.x.at(0), shape_t(c.integers_from(0)), {.order = c.option.at(0)}); }},
       {"ravel_multi_index",
        [](const call& c) { return results{ravel_multi_index(c.x, shape_t(c.integers_from(0)), modes_of(c))}; }},
       {"logspace",
        [](const call& c) {
          const auto [endpoint, axis] = std::pair(c.n.at(1) != 0, c.integer(2));
          return results{logspace(c.x.at(0), c.x.at(1), c.integer(0), {.endpoint = endpoint, .axis = axis})};
        }},
       {"logspace base",
        [](const call& c) {
          const auto [endpoint, axis] = std::pair(c.n.at(1) != 0, c.integer(2));
          return results{
              logspace(c.x.at(0), c.x.at(1), c.integer(0), {.endpoint = endpoint, .base = c.x.at(2), .axis = axis})};
        }},
       {"geomspace", [](const call& c) { return results{geomspace(c.x.at(0), c.x.at(1), c.integer(0), between(c))}; }},
       {"logsumexp", summed},
       {"kind", [](const call& c) { return results{truths(isrealobj(c.x.at(0)), iscomplexobj(c.x[0]))}; }},
       {"sort_complex", [](const call& c) { return results{sort_complex(c.x.at(0))}; }},
       {"common_type", [](const call& c) { return results{zeros({0}, common_type(c.x.at(0), c.x.at(1)))}; }},
       {"asarray_chkfinite", [](const call& c) { return results{asarray_chkfinite(c.x.at(0))}; }},
       {"min_scalar_type", [](const call& c) { return results{zeros({0}, min_scalar_type(c.x.at(0)))}; }},
       {"shares_memory",
        [](const call& c) {
          const ndarray base = c.x.at(0).copy(), a = part_of(base, c, 0), b = part_of(base, c, 5);
          return results{truths(shares_memory(a, b), may_share_memory(a, b))};
        }},
       {"frombuffer", from_bytes}});
}
