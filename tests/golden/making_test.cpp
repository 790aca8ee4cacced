// Borders, insertions, deletions, blocks, grids, diagonals, series, views by strides: as NumPy 2.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;

results pad_of(const call& c) {
  const std::vector<std::int64_t> w = c.x.at(1).to_vector<std::int64_t>();
  std::vector<std::pair<extent, extent>> widths;
  for (std::size_t i = 0; i + 1 < w.size(); i += 2) widths.emplace_back(w[i], w[i + 1]);
  const std::string mode = c.option.substr(0, c.option.find(' '));
  pad_kw kw{.reflect_type = c.has("odd") ? "odd" : "even"};
  if (mode == "constant" && !c.n.empty()) kw.constant_values = {c.integer(0), c.integer(1)};
  if (mode == "linear_ramp") kw.end_values = {c.integer(0), c.integer(1)};
  if (c.has("length")) kw.stat_length = before_and_after<extent>(c.integer(0), c.integer(1));
  return {pad(c.x.at(0), widths, mode, kw)};
}

optional_axis axis_at(const call& c, std::size_t i) {
  return i < c.n.size() ? optional_axis(c.integer(i)) : optional_axis(std::nullopt);
}

results filled_diagonal(const call& c) {
  const ndarray x = c.x.at(0).copy();
  fill_diagonal(x, c.x.at(1), {.wrap = c.has("wrap")});
  return {x};
}
results copied(const call& c) {
  const ndarray x = c.x.at(0).copy();
  copyto(x, c.x.at(1), {.where = c.x.at(2)});
  return {x};
}

#define SPLIT(name)                                                                                                       \
  {                                                                                                                       \
#name,                                                                                                                \
        [](const call& c)                                                                                                 \
             -> results { return c.n.size() == 1 ? name(c.x.at(0), c.integer(0))                                          \
                                                 : name(c.x.at(0), c.integers_from(0)); } \
  }
#define FROM(name)                                                  \
  {                                                                 \
#name, [](const call& c) -> results { return name(c.x.at(0)); } \
  }

}  // namespace

TEST_CASE("functions that make and edit arrays give what NumPy's do" * doctest::test_suite(sharded_suite)) {
  check_calls(
      "making.bin",
      {{"pad", pad_of},
       {"append", [](const call& c) { return results{append(c.x.at(0), c.x.at(1), axis_at(c, 0))}; }},
       {"insert", [](const call& c) { return results{insert(c.x.at(0), c.integer(0), c.x.at(1), axis_at(c, 1))}; }},
       {"insert at", [](const call& c) { return results{insert(c.x.at(0), c.x.at(2), c.x.at(1), axis_at(c, 0))}; }},
       {"delete", [](const call& c) { return results{delete_(c.x.at(0), c.integer(0), axis_at(c, 1))}; }},
       {"delete at", [](const call& c) { return results{delete_(c.x.at(0), c.x.at(1), axis_at(c, 0))}; }},
       {"resize", [](const call& c) { return results{resize(c.x.at(0), shape_t(c.integers_from(0)))}; }},
       {"trim_zeros", [](const call& c) { return results{trim_zeros(c.x.at(0), c.option, c.axes_from(0))}; }},
       {"block",
        [](const call& c) {
          const ndarray &x = c.x.at(0), &y = c.x.at(1);
          return results{block({{x, expand_dims(y(0)(slice(3)), 1)}, {y, ones({2, 1})}})};
        }},
       {"copyto", copied},
       {"fill_diagonal", filled_diagonal},
       SPLIT(hsplit),
       SPLIT(vsplit),
       SPLIT(dsplit),
       {"rollaxis", [](const call& c) { return results{rollaxis(c.x.at(0), c.integer(0), c.integer(1))}; }},
       {"windows", [](const call& c) { return results{sliding_window_view(c.x.at(0), shape_t(c.integers_from(0)))}; }},
       {"windows along",
        [](const call& c) {
          return results{sliding_window_view(c.x.at(0), shape_t(c.x.at(2).to_vector<std::int64_t>()),
                                             {.axis = axes(c.x.at(1).to_vector<std::int64_t>())})};
        }},
       {"diag", [](const call& c) { return results{diag(c.x.at(0), c.integer(0))}; }},
       {"diagflat", [](const call& c) { return results{diagflat(c.x.at(0), c.integer(0))}; }},
       {"tri", [](const call& c) { return results{tri(c.integer(0), c.integer(1), {.k = c.integer(2)})}; }},
       {"logspace",
        [](const call& c) {
          return results{logspace(c.n.at(0), c.n.at(1), c.integer(2), {.endpoint = !c.has("open")})};
        }},
       {"geomspace",
        [](const call& c) {
          return results{geomspace(c.n.at(0), c.n.at(1), c.integer(2), {.endpoint = !c.has("open")})};
        }},
       {"mgrid",
        [](const call&) {
          return results{mgrid({{0, 3}, {1, 2, 0.25}})};
        }},
       {"ogrid",
        [](const call&) -> results {
          return ogrid({{0, 3}, {-1, 1, std::complex<double>(0, 5)}});
        }},
       {"indices", [](const call& c) { return results{indices(shape_t(c.integers_from(0)))}; }},
       {"r_",
        [](const call& c) {
          return results{r_({c.x.at(0), 0, 1.5, c.x.at(1)})};
        }},
       {"c_",
        [](const call& c) {
          return results{c_({c.x.at(0), c.x.at(0)})};
        }},
       FROM(diag_indices_from),
       FROM(tril_indices_from),
       FROM(triu_indices_from)});
}

TEST_CASE("borders of large arrays are those of small ones") {
  const ndarray base = arange(190 * 200, {.dtype = float32}).reshape({190, 200});
  for (const ndarray& x : {base, base.T().copy().T(), base * 2}) {
    for (const char* mode : {"edge", "reflect", "symmetric", "wrap"}) {
      const ndarray rows = pad(arange(190), {3, 7}, mode), columns = pad(arange(200), {450, 1}, mode);
      const ndarray padded = pad(x, {{3, 7}, {450, 1}}, mode);
      CHECK_MESSAGE(array_equal(padded, take(take(x, rows, 0), columns, 1)), mode);
    }
    const ndarray y = pad(x, {{3, 0}, {0, 5}}, "constant", {.constant_values = {{1, 2}, {3, 4}}});
    CHECK(array_equal(y(slice(3, none_t{0}), slice(200)), x));
    CHECK(array_equal(y(slice(3), slice(200)), ones({3, 200})));
    CHECK(array_equal(y(none_t{0}, slice(200, none_t{0})), full({193, 5}, 4)));
  }
  CHECK(array_equal(pad(zeros({0, 40000}), 1, "constant", {.constant_values = 2}), full({2, 40002}, 2)));
}

TEST_CASE("views by strides stay within the memory of the array") {
  const ndarray x = arange(10, {.dtype = int32});
  const ndarray v = as_strided(x, {.shape = shape_t{4, 3}, .strides = std::vector<std::int64_t>{8, 4}});
  CHECK(array_equal(v, array({{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6, 7, 8}})));
  CHECK(array_equal(as_strided(x(slice(5, 2, -1)), {.shape = shape_t{3}}), array({5, 4, 3})));
  CHECK_THROWS_AS(as_strided(x, {.shape = shape_t{11}}), value_error);
  CHECK_THROWS_AS(as_strided(x, {.shape = shape_t{4}, .strides = std::vector<std::int64_t>{-4}}), value_error);
  CHECK_THROWS_AS(as_strided(x, {.shape = shape_t{4}, .strides = std::vector<std::int64_t>{3}}), value_error);
  CHECK_THROWS_AS(v(ellipsis_t{}) = 1, value_error);
  const ndarray columns = as_strided(x, {.shape = shape_t{2, 5}, .strides = std::vector<std::int64_t>{4, 8}});
  columns(1) = 0;
  CHECK(array_equal(x, array({0, 0, 2, 0, 4, 0, 6, 0, 8, 0})));
  const ndarray windows = sliding_window_view(x * 2, 3);
  CHECK(array_equal(sum(windows, 1), convolve(x * 2, ones({3}, int64), "valid")));
  CHECK_THROWS_AS(windows(0) = 1, value_error);
}

TEST_CASE("text and functions of coordinates") {
  const ndarray i = arange(3)(slice(none_t{0}), newaxis_t{}), j = arange(4);
  CHECK(array_equal(fromfunction("i0 * 10 + i1", {3, 4}), i * 10 + j));
  CHECK(fromfunction("i0 - 2", {3}, {.dtype = int32}).dtype() == int32);
  CHECK(array_equal(fromfunction([](const std::vector<ndarray>& at) { return at[0] + at[1]; }, {3, 4}), i + j));
  CHECK(array_equal(mask_indices(
                        3, [](const ndarray& m, std::int64_t k) { return triu(m, k); }, 1)[1],
                    array({1, 2, 2})));
  const linspace_result r = linspace_with_step(0, 1, 5);
  CHECK(r.step == 0.25);
  CHECK(array_equal(r.samples, linspace(0, 1, 5)));
  CHECK(ascontiguousarray(full({}, 3.0)).shape() == shape_t{1});
  CHECK_THROWS_AS(require(j, {.requirements = "FC"}), value_error);
}

TEST_CASE("methods are the functions of the same names") {
  const ndarray x = arange(12, {.dtype = float32}).reshape({3, 4});
  CHECK(array_equal(x.sum(1), sum(x, 1)));
  CHECK(array_equal(x.sum({.axis = {0, 1}, .keepdims = true}), sum(x, {.keepdims = true})));
  CHECK(array_equal(x.mean(axes{0, 1}), mean(x)));
  CHECK(array_equal(x.std(0), sinter::std(x, 0)));
  CHECK(array_equal(x.var(0, {.ddof = 1}), var(x, 0, {.ddof = 1})));
  CHECK(x.max().item<float>() == 11);
  CHECK(array_equal(x.argmax(1), argmax(x, 1)));
  CHECK(x.argmin().item<int>() == 0);
  CHECK(bool(x.any()) != bool(x.all()));
  CHECK(array_equal(x.reshape(2, -1).flatten().clip(2, 5).round(), clip(ravel(x), 2, 5)));
  CHECK(array_equal(x.transpose().squeeze().cumsum(0), cumsum(x.T(), 0)));
  CHECK(x.ravel().dot(x.ravel()).item<float>() == sum(x * x).item<float>());
  CHECK(x.tolist<int, 2>() == std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  CHECK_THROWS_AS(x.tolist<float>(), shape_error);
  const ndarray y = array({3, 1, 2});
  y.sort();
  CHECK(array_equal(y, array({1, 2, 3})));
  y.fill(7);
  CHECK(array_equal(y, array({7, 7, 7})));
  CHECK_THROWS_AS(broadcast_to(y, {2, 3}).sort(), value_error);
}

TEST_CASE("one index in braces is a list of one, not a number of sections") {
  const ndarray x = arange(24).reshape({2, 3, 4});
  for (const std::vector<ndarray>& parts :
       {split(x, {1}), array_split(x, {1}), vsplit(x, {1}), hsplit(x, {1}), dsplit(x, {1})}) {
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].size() + parts[1].size() == 24);
  }
  CHECK(array_equal(hsplit(x, {1})[1], x(idx::_, idx::slice(1, idx::_))));
  CHECK(hsplit(x, 3).size() == 3);
}

TEST_CASE("pad and windows: keywords and positions say the same") {
  const ndarray x = arange(12, {.dtype = float32}).reshape({3, 4});
  CHECK(array_equal(pad(x, 2, {.mode = "edge"}), pad(x, 2, "edge")));
  CHECK_FALSE(array_equal(pad(x, 2, {.mode = "edge"}), pad(x, 2)));
  CHECK(array_equal(pad(x, 1, {.constant_values = 7}), pad(x, 1, "constant", {.constant_values = 7})));
  CHECK_THROWS_AS(pad(x, 1, {.mode = "mirror"}), value_error);
  CHECK(sliding_window_view(x, 2, 1).shape() == shape_t{3, 3, 2});
  CHECK(array_equal(sliding_window_view(x, {2, 3}, axes{0, 1}), sliding_window_view(x, {2, 3})));
}
