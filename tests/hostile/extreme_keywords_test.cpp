// Extremes of integers in keywords beside the arguments that most programs write, in digits, and in plain bytes.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "hostile/extreme_integers.hpp"
#include "sinter/raw_file.hpp"

using namespace hostile;
using sinter::axes;

namespace {

ndarray cube() { return sn::reshape(sn::arange(24, {.dtype = sn::float64}), {2, 3, 4}); }
ndarray row() { return sn::arange(6); }
std::vector<std::byte> bytes() { return std::vector<std::byte>(48); }

/// A file of 48 bytes.
struct small_file {
  small_file() : path("/tmp/sinter_extreme_" + std::to_string(getpid()) + ".bin") { sn::tofile(row(), path); }
  ~small_file() { std::remove(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("extreme integers: further keywords") {
  check_extremes({
      {"some_axes_kw.axis",
       [](int64_t k) {
         return sn::flip(cube(), {.axis = {0, k}});
       }},
      {"some_axes_kw.axis of squeeze", [](int64_t k) { return sn::squeeze(cube(), {.axis = k}); }},
      {"some_axes_kw.axis of expand_dims",
       [](int64_t k) {
         return sn::expand_dims(cube(), {.axis = {k, 0}});
       }},
      {"some_axes_kw.axis of roll", [](int64_t k) { return sn::roll(cube(), k, {.axis = k}); }},
      {"permutation_kw.axes",
       [](int64_t k) {
         return sn::transpose(cube(), {.axes = {0, k, 1}});
       }},
      {"permutation_kw.axes of permute_dims",
       [](int64_t k) {
         return sn::permute_dims(cube(), {.axes = {k, 1, 2}});
       }},
      {"rollaxis_kw.start", [](int64_t k) { return sn::rollaxis(cube(), 1, {.start = k}); }},
      {"key_axis_kw.axis",
       [](int64_t k) {
         return sn::lexsort({cube(), cube()}, {.axis = k});
       }},
      {"diag_indices_kw.ndim", [](int64_t k) { return sn::diag_indices(3, {.ndim = k}); }},
      {"diagonal_axes_kw.axis1", [](int64_t k) { return sn::diagonal(cube(), {.axis1 = k}); }},
      {"diagonal_axes_kw.axis2", [](int64_t k) { return sn::diagonal(cube(), {.axis2 = k}); }},
      {"diagonal_axes_kw.offset", [](int64_t k) { return sn::diagonal(cube(), {.offset = k}); }},
      {"triangle_kw.k", [](int64_t k) { return sn::tril_indices(3, {.k = k}); }},
      {"triangle_kw.k of triu", [](int64_t k) { return sn::triu_indices(3, {.k = k, .m = 4}); }},
      {"triangle_kw.m", [](int64_t k) { return sn::triu_indices(2, {.m = k}); }},
      {"logspace_arrays_kw.axis", [](int64_t k) { return sn::logspace(row(), 2, 3, {.axis = k}); }},
      {"logspace count of arrays", [](int64_t k) { return sn::logspace(0, row(), k); }},
      {"geomspace count of arrays", [](int64_t k) { return sn::geomspace(row() + 1, 2, k); }},
      {"cross_kw.axisa",
       [](int64_t k) {
         return sn::cross(sn::ones({3, 3}), sn::ones({3, 3}), {.axisa = k});
       }},
      {"cross_kw.axisb",
       [](int64_t k) {
         return sn::cross(sn::ones({3, 3}), sn::ones({3, 3}), {.axisb = k});
       }},
      {"cross_kw.axisc",
       [](int64_t k) {
         return sn::cross(sn::ones({3, 3}), sn::ones({3, 3}), {.axisc = k});
       }},
      {"unravel_index of columns",
       [](int64_t k) {
         return sn::unravel_index(k, {2, 3}, {.order = 'F'});
       }},
      {"unravel_index shape of columns",
       [](int64_t k) {
         return sn::unravel_index(0, {k, k}, {.order = 'F'});
       }},
      {"ravel_multi_index of columns",
       [](int64_t k) {
         return sn::ravel_multi_index({sn::array({k}), sn::array({1})}, {0, k}, {.mode = "wrap", .order = 'F'});
       }},
      {"multinomial of arrays",
       [](int64_t k) {
         return sn::random::multinomial(sn::array({k}), sn::array({0.5, 0.5}));
       }},
      {"multinomial of stacks",
       [](int64_t k) {
         return sn::random::multinomial(k, sn::array({{0.5, 0.5}}));
       }},
  });
}

TEST_CASE("extreme integers: digits and bytes") {
  const small_file file;
  check_extremes({
      {"base_repr", [](int64_t k) { return void(sn::base_repr(k)); }},
      {"base_repr base", [](int64_t k) { return void(sn::base_repr(5, k)); }},
      {"base_repr padding", [](int64_t k) { return void(sn::base_repr(5, 2, k)); }},
      {"binary_repr", [](int64_t k) { return void(sn::binary_repr(k)); }},
      {"binary_repr of 70 digits", [](int64_t k) { return void(sn::binary_repr(k, 70)); }},
      {"binary_repr width", [](int64_t k) { return void(sn::binary_repr(-5, k)); }},
      {"raw_bytes_kw.count", [](int64_t k) { return sn::frombuffer(bytes(), sn::int32, {.count = k}); }},
      {"raw_bytes_kw.offset", [](int64_t k) { return sn::frombuffer(bytes(), sn::int8, {.offset = k}); }},
      {"raw_bytes_kw.count of a file",
       [&](int64_t k) { return sn::fromfile(file.path, sn::int32, {.count = k, .offset = 3}); }},
      {"raw_bytes_kw.offset of a file", [&](int64_t k) { return sn::fromfile(file.path, sn::int64, {.offset = k}); }},
  });
}
