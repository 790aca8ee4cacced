// Extremes of integers in what makes arrays: grids, windows, padding, insertion, splitting and views by strides.
#include "hostile/extreme_integers.hpp"

using namespace hostile;
using sinter::axes;
using longs = std::vector<int64_t>;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }

}  // namespace

TEST_CASE("extreme integers: grids and windows") {
  check_extremes({
      {"diag", [](int64_t k) { return sn::diag(row(), k); }},
      {"diag of a matrix", [](int64_t k) { return sn::diag(sn::eye(3), k); }},
      {"diagflat", [](int64_t k) { return sn::diagflat(cube(), k); }},
      {"diagflat of nothing", [](int64_t k) { return sn::diagflat(sn::zeros({0}), k); }},
      {"tri", [](int64_t k) { return sn::tri(k); }},
      {"tri columns", [](int64_t k) { return sn::tri(2, k); }},
      {"tri k", [](int64_t k) { return sn::tri(3, {.k = k}); }},
      {"mask_indices",
       [](int64_t k) { return sn::mask_indices(k, [](const ndarray& x, int64_t d) { return sn::triu(x, d); }); }},
      {"mask_indices k",
       [](int64_t k) {
         return sn::mask_indices(
             3, [](const ndarray& x, int64_t d) { return sn::tril(x, d); }, k);
       }},
      {"tril_indices_from", [](int64_t k) { return sn::tril_indices_from(sn::eye(3), k); }},
      {"triu_indices_from", [](int64_t k) { return sn::triu_indices_from(sn::eye(3), k); }},
      {"logspace", [](int64_t k) { return sn::logspace(0, 1, k); }},
      {"logspace ends", [](int64_t k) { return sn::logspace(k, least, 3, {.dtype = sn::int64}); }},
      {"geomspace", [](int64_t k) { return sn::geomspace(1, 2, k); }},
      {"geomspace open", [](int64_t k) { return sn::geomspace(1, 2, k, {.endpoint = false}); }},
      {"linspace_with_step", [](int64_t k) { return sn::linspace_with_step(0, 1, k).samples; }},
      {"linspace_with_step open",
       [](int64_t k) { return sn::linspace_with_step(0, 1, k, {.endpoint = false}).samples; }},
      {"mgrid of the number",
       [](int64_t k) {
         return sn::mgrid({{k}, {3}});
       }},
      {"mgrid of ranges",
       [](int64_t k) {
         return sn::mgrid({{least, most, k}, {k, 5}});
       }},
      {"ogrid of points",
       [](int64_t k) {
         return sn::ogrid({{0, 1, std::complex<double>(0, static_cast<double>(k))}});
       }},
      {"indices",
       [](int64_t k) {
         return sn::indices({k, 2});
       }},
      {"indices of nothing",
       [](int64_t k) {
         return sn::indices({0, k, k});
       }},
      {"fromfunction",
       [](int64_t k) {
         return sn::fromfunction("i0 * 10 + i1", {k, 2});
       }},
      {"fromfunction called",
       [](int64_t k) {
         return sn::fromfunction([](const std::vector<ndarray>& i) { return i[0] + i[1]; }, {2, k});
       }},
      {"bartlett", [](int64_t k) { return sn::bartlett(k); }},
      {"blackman", [](int64_t k) { return sn::blackman(k); }},
      {"hamming", [](int64_t k) { return sn::hamming(k); }},
      {"hanning", [](int64_t k) { return sn::hanning(k); }},
      {"kaiser", [](int64_t k) { return sn::kaiser(k, 14); }},
      {"kaiser beta", [](int64_t k) { return sn::kaiser(5, static_cast<double>(k)); }},
  });
}

TEST_CASE("extreme integers: padding, insertion and deletion") {
  const std::vector<std::string> modes{"constant", "edge",    "linear_ramp", "maximum", "mean", "median",
                                       "minimum",  "reflect", "symmetric",   "wrap",    "empty"};
  for (const std::string& mode : modes) {
    INFO(mode);
    check_extremes({
        {"pad", [&](int64_t k) { return sn::pad(row(), k, mode); }},
        {"pad behind",
         [&](int64_t k) {
           return sn::pad(row(), {{1, k}}, mode);
         }},
        {"pad axes",
         [&](int64_t k) {
           return sn::pad(sn::ones({1, 2}), {{k, 0}, {0, k}}, mode);
         }},
        {"pad_kw.stat_length", [&](int64_t k) { return sn::pad(row(), 2, mode, {.stat_length = k}); }},
    });
  }
  check_extremes({
      {"append", [](int64_t k) { return sn::append(cube(), cube(), k); }},
      {"append number", [](int64_t k) { return sn::append(row(), k); }},
      {"insert", [](int64_t k) { return sn::insert(row(), k, 1); }},
      {"insert axis", [](int64_t k) { return sn::insert(cube(), 0, 1, k); }},
      {"insert list",
       [](int64_t k) {
         return sn::insert(row(), sn::list(longs{k, 0, k}), 1);
       }},
      {"insert slice", [](int64_t k) { return sn::insert(row(), sn::slice(k, -k / 2, k), 1); }},
      {"insert array",
       [](int64_t k) {
         return sn::insert(row(), sn::array({k, k}), sn::array({1, 2}));
       }},
      {"delete_", [](int64_t k) { return sn::delete_(row(), k); }},
      {"delete_ axis", [](int64_t k) { return sn::delete_(cube(), 0, k); }},
      {"delete_ list",
       [](int64_t k) {
         return sn::delete_(row(), sn::list(longs{k, 0}));
       }},
      {"delete_ slice", [](int64_t k) { return sn::delete_(row(), sn::slice(k, -k / 2, k)); }},
      {"resize",
       [](int64_t k) {
         return sn::resize(row(), {k, 2});
       }},
      {"resize of nothing",
       [](int64_t k) {
         return sn::resize(sn::zeros({0}), {k, k});
       }},
      {"resize to nothing",
       [](int64_t k) {
         return sn::resize(row(), {0, k, k});
       }},
      {"trim_zeros", [](int64_t k) { return sn::trim_zeros(cube(), "fb", k); }},
      {"trim_zeros axes",
       [](int64_t k) {
         return sn::trim_zeros(cube(), "f", axes{0, k});
       }},
  });
}

TEST_CASE("extreme integers: parts and views") {
  check_extremes({
      {"vsplit", [](int64_t k) { return sn::vsplit(cube(), k); }},
      {"vsplit indices",
       [](int64_t k) {
         return sn::vsplit(cube(), longs{k, 1, k});
       }},
      {"hsplit", [](int64_t k) { return sn::hsplit(row(), k); }},
      {"hsplit indices",
       [](int64_t k) {
         return sn::hsplit(cube(), longs{k, 1});
       }},
      {"dsplit", [](int64_t k) { return sn::dsplit(cube(), k); }},
      {"dsplit indices", [](int64_t k) { return sn::dsplit(cube(), longs{k}); }},
      {"rollaxis", [](int64_t k) { return sn::rollaxis(cube(), k); }},
      {"rollaxis start", [](int64_t k) { return sn::rollaxis(cube(), 1, k); }},
      {"as_strided_kw.shape", [](int64_t k) { return sn::as_strided(row(), {.shape = sn::shape_t{k}}); }},
      {"as_strided_kw.shape of no stride",
       [](int64_t k) {
         return sn::as_strided(row(), {.shape = sn::shape_t{k, k}, .strides = longs{0, 0}});
       }},
      {"as_strided_kw.shape with nothing",
       [](int64_t k) {
         return sn::as_strided(row(), {.shape = sn::shape_t{0, k}, .strides = longs{k, k}});
       }},
      {"as_strided_kw.strides", [](int64_t k) { return sn::as_strided(row(), {.strides = longs{k}}); }},
      {"as_strided_kw.strides of items",
       [](int64_t k) {
         return sn::as_strided(row(), {.shape = sn::shape_t{2, 3}, .strides = longs{k / 8 * 8, -(k / 8 * 8)}});
       }},
      {"as_strided_kw.strides of one element",
       [](int64_t k) {
         return sn::as_strided(row(), {.shape = sn::shape_t{1, 1}, .strides = longs{k / 8 * 8, k / 16 * 8}});
       }},
      {"sliding_window_view", [](int64_t k) { return sn::sliding_window_view(row(), {k}); }},
      {"sliding_window_view of three",
       [](int64_t k) {
         return sn::sliding_window_view(cube(), {1, k, 2});
       }},
      {"sliding_window_view_kw.axis", [](int64_t k) { return sn::sliding_window_view(cube(), {2}, {.axis = k}); }},
      {"sliding_window_view_kw.axis two",
       [](int64_t k) {
         return sn::sliding_window_view(cube(), {2, 1}, {.axis = axes{k, 0}});
       }},
  });
}
