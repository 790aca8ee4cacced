// Extremes of integers in creation, shapes and indices.
#include "hostile/extreme_integers.hpp"
#include "sinter/apply.hpp"

using namespace hostile;
using namespace sinter::idx;
using sinter::axes;
using longs = std::vector<int64_t>;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }

}  // namespace

TEST_CASE("extreme integers: creation") {
  check_extremes({
      {"zeros",
       [](int64_t k) {
         return sn::zeros({k, 2});
       }},
      {"zeros of a vector",
       [](int64_t k) {
         return sn::zeros(std::vector<int64_t>{k, k}, sn::int8);
       }},
      {"ones", [](int64_t k) { return sn::ones(k); }},
      {"empty",
       [](int64_t k) {
         return sn::empty({0, k, k});
       }},
      {"full",
       [](int64_t k) {
         return sn::full({k, k, 0}, 3);
       }},
      {"full of the number", [](int64_t k) { return sn::full({2}, k); }},
      {"array number",
       [](int64_t k) {
         return sn::array({k, k});
       }},
      {"array",
       [](int64_t k) {
         return sn::array(static_cast<const double*>(nullptr), {k, 0});
       }},
      {"arange stop", [](int64_t k) { return sn::arange(k); }},
      {"arange start", [](int64_t k) { return sn::arange(k, 5); }},
      {"arange step", [](int64_t k) { return sn::arange(0, 5, k); }},
      {"arange all", [](int64_t k) { return sn::arange(k, -k / 2, k / 3); }},
      {"arange unsigned", [](int64_t k) { return sn::arange(static_cast<std::uint64_t>(k), ~std::uint64_t{0}); }},
      {"linspace", [](int64_t k) { return sn::linspace(0, 1, k); }},
      {"linspace ends", [](int64_t k) { return sn::linspace(k, least, 3, {.dtype = sn::int64}); }},
      {"eye", [](int64_t k) { return sn::eye(k); }},
      {"eye columns", [](int64_t k) { return sn::eye(2, k); }},
      {"eye_kw.columns", [](int64_t k) { return sn::eye(2, {.columns = k}); }},
      {"eye_kw.k", [](int64_t k) { return sn::eye(3, {.k = k}); }},
      {"identity", [](int64_t k) { return sn::identity(k); }},
      {"tril", [](int64_t k) { return sn::tril(cube(), k); }},
      {"tril of a vector", [](int64_t) { return sn::tril(sn::broadcast_to(sn::ones({1}), {two_to_32})); }},
      {"triu", [](int64_t k) { return sn::triu(cube(), k); }},
      {"tril_indices", [](int64_t k) { return sn::tril_indices(k); }},
      {"tril_indices k", [](int64_t k) { return sn::tril_indices(3, k); }},
      {"tril_indices m", [](int64_t k) { return sn::tril_indices(3, 0, k); }},
      {"triu_indices", [](int64_t k) { return sn::triu_indices(k, k, k); }},
      {"triu_indices k", [](int64_t k) { return sn::triu_indices(3, k); }},
      {"diag_indices", [](int64_t k) { return sn::diag_indices(k); }},
      {"diag_indices ndim", [](int64_t k) { return sn::diag_indices(3, k); }},
  });
}

TEST_CASE("extreme integers: shapes") {
  check_extremes({
      {"reshape",
       [](int64_t k) {
         return sn::reshape(cube(), {k, 4});
       }},
      {"reshape with -1",
       [](int64_t k) {
         return sn::reshape(cube(), {k, -1});
       }},
      {"reshape of nothing",
       [](int64_t k) {
         return sn::reshape(sn::zeros({0}), {k, 0, k});
       }},
      {"transpose",
       [](int64_t k) {
         return sn::transpose(cube(), axes{k, 1, 0});
       }},
      {"permute_dims",
       [](int64_t k) {
         return sn::permute_dims(cube(), axes{0, k, 2});
       }},
      {"moveaxis", [](int64_t k) { return sn::moveaxis(cube(), k, 0); }},
      {"moveaxis destination", [](int64_t k) { return sn::moveaxis(cube(), 0, k); }},
      {"swapaxes", [](int64_t k) { return sn::swapaxes(cube(), k, 1); }},
      {"swapaxes second", [](int64_t k) { return sn::swapaxes(cube(), 1, k); }},
      {"expand_dims", [](int64_t k) { return sn::expand_dims(cube(), k); }},
      {"expand_dims two",
       [](int64_t k) {
         return sn::expand_dims(cube(), axes{k, 0});
       }},
      {"squeeze",
       [](int64_t k) {
         return sn::squeeze(sn::zeros({1, 2, 1}), k);
       }},
      {"squeeze rank 0", [](int64_t k) { return sn::squeeze(sn::array(1), k); }},
      {"broadcast_to",
       [](int64_t k) {
         return sn::broadcast_to(sn::array(1), {k, 1});
       }},
      {"broadcast_shapes",
       [](int64_t k) {
         return sn::broadcast_shapes(sn::shape_t{k, 1}, sn::shape_t{1, k});
       }},
      {"flip", [](int64_t k) { return sn::flip(cube(), k); }},
      {"rot90", [](int64_t k) { return sn::rot90(cube(), k); }},
      {"rot90 plane",
       [](int64_t k) {
         return sn::rot90(cube(), 1, axes{0, k});
       }},
      {"roll", [](int64_t k) { return sn::roll(cube(), k); }},
      {"roll one axis", [](int64_t k) { return sn::roll(cube(), k, 1); }},
      {"roll axis", [](int64_t k) { return sn::roll(cube(), 1, k); }},
      {"roll sums",
       [](int64_t k) {
         return sn::roll(cube(), longs{k, k, k}, axes{1, 1, 0});
       }},
      {"concatenate",
       [](int64_t k) {
         return sn::concatenate({cube(), cube()}, k);
       }},
      {"concat",
       [](int64_t k) {
         return sn::concat({cube(), cube()}, k);
       }},
      {"stack",
       [](int64_t k) {
         return sn::stack({cube(), cube()}, k);
       }},
      {"tile", [](int64_t k) { return sn::tile(row(), k); }},
      {"tile axes",
       [](int64_t k) {
         return sn::tile(row(), {k, k});
       }},
      {"tile rank", [](int64_t k) { return sn::tile(row(), std::vector<int64_t>(100, k)); }},
      {"repeat", [](int64_t k) { return sn::repeat(row(), k); }},
      {"repeat axis", [](int64_t k) { return sn::repeat(cube(), 2, k); }},
      {"repeat nothing", [](int64_t k) { return sn::repeat(sn::zeros({0}), k); }},
      {"unstack", [](int64_t k) { return sn::unstack(cube(), k); }},
      {"unstack many", [](int64_t k) { return sn::unstack(sn::broadcast_to(sn::array(1), {k})); }},
      {"split", [](int64_t k) { return sn::split(cube(), k, 1); }},
      {"split axis", [](int64_t k) { return sn::split(cube(), 1, k); }},
      {"split indices",
       [](int64_t k) {
         return sn::split(row(), {k, 2, k});
       }},
      {"array_split", [](int64_t k) { return sn::array_split(row(), k); }},
      {"array_split axis", [](int64_t k) { return sn::array_split(cube(), 2, k); }},
      {"array_split indices", [](int64_t k) { return sn::array_split(row(), {k}, 0); }},
      {"diff_kw.n", [](int64_t k) { return sn::diff(row(), {.n = k}); }},
      {"diff_kw.axis", [](int64_t k) { return sn::diff(cube(), {.axis = k}); }},
      {"diff", [](int64_t k) { return sn::diff(row(), k); }},
      {"diff of bools", [](int64_t k) { return sn::diff(row() > 2, k); }},
      {"diff of two", [](int64_t k) { return sn::diff(cube(), 2, k); }},
      {"shape", [](int64_t k) { return cube().shape(k); }},
      {"shape_t",
       [](int64_t k) {
         return sn::to_string(sn::shape_t{k, k});
       }},
      {"to_string", [](int64_t k) { return sn::to_string(sn::shape_t(k)); }},
      {"axes", [](int64_t k) { return sn::sum(cube(), axes(static_cast<std::uint64_t>(k))); }},
      {"axes of a vector",
       [](int64_t k) {
         return sn::sum(cube(), axes(longs{k, k}));
       }},
      {"extent", [](int64_t k) { return sn::extent(static_cast<std::uint64_t>(k)).value; }},
  });
}

TEST_CASE("extreme integers: indices") {
  check_extremes({
      {"index", [](int64_t k) { return ndarray(row()(k)); }},
      {"index unsigned", [](int64_t k) { return ndarray(row()(static_cast<std::uint64_t>(k))); }},
      {"bound", [](int64_t k) { return ndarray(row()(sn::slice(k, _))); }},
      {"bound stop", [](int64_t k) { return ndarray(row()(sn::slice(_, k))); }},
      {"bound step", [](int64_t k) { return ndarray(row()(sn::slice(_, _, k))); }},
      {"bound all", [](int64_t k) { return ndarray(row()(sn::slice(k, -k / 2, k))); }},
      {"list", [](int64_t k) { return ndarray(row()(sn::list{k})); }},
      {"list of a vector",
       [](int64_t k) {
         return ndarray(row()(sn::list(longs{k, 0})));
       }},
      {"index array",
       [](int64_t k) {
         return ndarray(row()(sn::array({k, int64_t{0}})));
       }},
      {"index array of nothing",
       [](int64_t k) {
         return ndarray(sn::zeros({2, 0})(sn::array({k})));
       }},
      {"take", [](int64_t k) { return sn::take(row(), k); }},
      {"take axis", [](int64_t k) { return sn::take(cube(), 0, k); }},
      {"take clip", [](int64_t k) { return sn::take(row(), k, _, {.mode = "clip"}); }},
      {"take wrap", [](int64_t k) { return sn::take(row(), sn::array({k}), 0, {.mode = "wrap"}); }},
      {"take_along_axis",
       [](int64_t k) {
         return sn::take_along_axis(cube(), sn::zeros({2, 3, 1}, sn::int64), k);
       }},
      {"put_along_axis",
       [](int64_t k) {
         const ndarray x = cube().copy();
         sn::put_along_axis(x, sn::zeros({2, 3, 1}, sn::int64), 1, k);
         return x;
       }},
      {"put index",
       [](int64_t k) {
         const ndarray x = cube().copy();
         sn::put(x, k, 1);
         return x;
       }},
      {"compress",
       [](int64_t k) {
         return sn::compress(sn::array({true, false}), cube(), k);
       }},
      {"choose number",
       [](int64_t k) {
         return sn::choose(sn::array({k}), {row(), row()});
       }},
      {"unravel_index",
       [](int64_t k) {
         return sn::unravel_index(k, {2, 3});
       }},
      {"unravel_index shape",
       [](int64_t k) {
         return sn::unravel_index(0, {k, k});
       }},
      {"ravel_multi_index", [](int64_t k) { return sn::ravel_multi_index({sn::array({k})}, {k}); }},
      {"ravel_multi_index shape",
       [](int64_t k) {
         return sn::ravel_multi_index({sn::array({1}), sn::array({1})}, {k, k}, {.mode = "wrap"});
       }},
      {"host_view", [](int64_t k) { return cube().host<double>()(k, 0, 0); }},
  });
}

TEST_CASE("extreme integers: what NumPy gives") {
  const ndarray ones = sn::ones({3, 3});
  CHECK(sn::array_equal(sn::tril(ones, most), ones));
  CHECK(sn::array_equal(sn::tril(ones, least), sn::zeros({3, 3})));
  CHECK(sn::array_equal(sn::triu(ones, most), sn::zeros({3, 3})));
  CHECK(sn::array_equal(sn::triu(ones, least), ones));
  CHECK(sn::array_equal(sn::eye(3, {.k = most}), sn::zeros({3, 3})));
  CHECK(sn::array_equal(sn::eye(3, {.k = least}), sn::zeros({3, 3})));
  CHECK(sn::eye(3, 4, {.k = 3}).to_vector<int>()[3] == 1);
  CHECK(sn::roll(sn::arange(5), least).to_vector<int64_t>() == longs{3, 4, 0, 1, 2});
  CHECK(sn::roll(sn::arange(5), most).to_vector<int64_t>() == longs{3, 4, 0, 1, 2});
  CHECK(sn::roll(sn::reshape(row(), {2, 3}), longs{most, most}, axes{1, 1}).to_vector<int64_t>() ==
        longs{1, 2, 0, 4, 5, 3});
  CHECK(sn::diff(sn::arange(4), most).shape() == sn::shape_t{0});
  CHECK(sn::diff(sn::arange(4) > 1, most).dtype() == sn::bool_);
  CHECK(sn::array_equal(sn::rot90(cube(), two_to_32), cube()));
  CHECK(sn::array_equal(sn::rot90(cube(), -1), sn::rot90(cube(), least + 3)));
  CHECK(sn::repeat(sn::zeros({0}), most).shape() == sn::shape_t{0});
  CHECK(sn::all(sn::isnan(sn::round(sn::array({1.5, 0.0}), most))).item<bool>());
  CHECK(sn::all(sn::isnan(sn::round(sn::array({1.5, 0.0}), least))).item<bool>());
}

// An axis of 64 bits is never another one: it was truncated to 32 bits once, and 2^32 was axis 0.
TEST_CASE("extreme integers: axes are index errors unless they are axes") {
  const std::vector<std::pair<std::string, std::function<void(int64_t)>>> calls{
      {"sum", [](int64_t k) { sn::sum(cube(), k); }},
      {"sum of axes", [](int64_t k) { sn::sum(cube(), axes{k}); }},
      {"argmax", [](int64_t k) { sn::argmax(cube(), k); }},
      {"sort", [](int64_t k) { sn::sort(cube(), k); }},
      {"cumsum", [](int64_t k) { sn::cumsum(cube(), k); }},
      {"take", [](int64_t k) { sn::take(cube(), 0, k); }},
      {"stack",
       [](int64_t k) {
         sn::stack({row(), row()}, k);
       }},
      {"flip", [](int64_t k) { sn::flip(cube(), k); }},
      {"unstack", [](int64_t k) { sn::unstack(cube(), k); }},
      {"swapaxes", [](int64_t k) { sn::swapaxes(cube(), k, 0); }},
      {"vecdot", [](int64_t k) { sn::vecdot(cube(), cube(), {.axis = k}); }},
      {"diagonal", [](int64_t k) { sn::diagonal(cube(), 0, k, 1); }},
      {"cross",
       [](int64_t k) {
         sn::cross(sn::zeros({3, 3}), sn::zeros({3, 3}), {.axis = k});
       }},
      {"norm", [](int64_t k) { sn::linalg::norm(cube(), {.axis = k}); }},
      {"fftshift", [](int64_t k) { sn::fft::fftshift(cube(), k); }},
      {"permutation", [](int64_t k) { sn::random::permutation(cube(), k); }},
      {"shape", [](int64_t k) { static_cast<void>(cube().shape(k)); }},
      {"unique", [](int64_t k) { sn::unique(cube(), {.axis = k}); }},
  };
  for (const auto& [name, call] : calls)
    for (const int64_t k : extremes) {
      if (k >= -1 && k <= 1) continue;
      INFO(name << " along axis " << k);
      CHECK_THROWS_AS(call(k), sn::index_error);
    }
  CHECK_THROWS_WITH_AS(sn::sum(cube(), two_to_32), "[sum] axis 4294967296 is out of range for shape (2, 3, 4)",
                       sn::index_error);
  CHECK_THROWS_AS(sn::sum(cube(), std::numeric_limits<std::uint64_t>::max()), sn::index_error);
}

TEST_CASE("extreme integers: options by name") {
  check_extremes({
      {"round_kw.decimals", [](int64_t k) { return sn::round(cube(), {.decimals = k}); }},
      {"first_axis_kw.axis",
       [](int64_t k) {
         return sn::stack({row(), row()}, {.axis = k});
       }},
      {"first_axis_kw.axis split", [](int64_t k) { return sn::split(cube(), 2, {.axis = k}); }},
      {"joined_axis_kw.axis",
       [](int64_t k) {
         return sn::concatenate({cube(), cube()}, {.axis = k});
       }},
      {"flat_axis_kw.axis", [](int64_t k) { return sn::repeat(cube(), 2, {.axis = k}); }},
      {"take_kw.axis",
       [](int64_t k) {
         return sn::take(cube(), sn::array({0, 1}), {.axis = k});
       }},
      {"last_axis_kw.axis", [](int64_t k) { return sn::partition(cube(), 1, {.axis = k}); }},
      {"rot90_kw.k", [](int64_t k) { return sn::rot90(cube(), {.k = k}); }},
      {"rot90_kw.axes",
       [](int64_t k) {
         return sn::rot90(cube(), {.axes = axes{k, 1}});
       }},
      {"trim_zeros_kw.axis", [](int64_t k) { return sn::trim_zeros(cube(), {.axis = axes{k}}); }},
      {"diagonal_k_kw.k", [](int64_t k) { return sn::tril(cube(), {.k = k}); }},
      {"diagonal_k_kw.k diag", [](int64_t k) { return sn::diag(row(), {.k = k}); }},
      {"polyder_kw.m", [](int64_t k) { return sn::polyder(row(), {.m = k}); }},
      {"polyint_kw.m", [](int64_t k) { return sn::polyint(row() * 1.0, {.m = k}); }},
      {"linspace_arrays_kw.axis", [](int64_t k) { return sn::linspace(row(), row() + 1, 3, {.axis = k}); }},
      {"apply_along_axis",
       [](int64_t k) { return sn::apply_along_axis([](const ndarray& x) { return sn::sum(x); }, k, cube()); }},
      {"apply_over_axes",
       [](int64_t k) {
         return sn::apply_over_axes([](const ndarray& x, int64_t axis) { return sn::sum(x, axis); }, cube(), axes{k});
       }},
  });
}
