// Orders in memory, views in another dtype, complex parts that are assigned to: what stored results do not show.
#include <doctest/doctest.h>

#include <complex>

#include "sinter/sinter.hpp"

using namespace sinter;
using sinter::idx::_;

namespace {

constexpr reduce_kw constant_keywords{.keepdims = true};
constexpr var_kw constant_divisor{.ddof = 1.0};

ndarray box() { return reshape(arange(24, {.dtype = float32}), {2, 3, 4}); }
std::vector<std::int64_t> bytes(std::vector<std::int64_t> elements) {
  for (auto& e : elements) e *= 4;
  return elements;
}

}  // namespace

TEST_CASE("keywords may be constants") {
  CHECK(sum(box(), constant_keywords).shape() == shape_t{1, 1, 1});
  CHECK(var(array({1.0, 3.0}), constant_divisor).item<double>() == 2);
}

TEST_CASE("copies lie as their order says") {
  const ndarray x = box();
  CHECK(x.copy().strides() == bytes({12, 4, 1}));
  CHECK(x.copy({.order = 'F'}).strides() == bytes({1, 2, 6}));
  CHECK(x.T().copy({.order = 'K'}).strides() == bytes({1, 4, 12}));
  CHECK(x.T().copy({.order = 'A'}).strides() == bytes({1, 4, 12}));
  CHECK(x.copy({.order = 'A'}).strides() == bytes({12, 4, 1}));
  CHECK(permute_dims(x, axes{0, 2, 1}).copy({.order = 'K'}).strides() == bytes({12, 1, 4}));
  CHECK(permute_dims(x, axes{0, 2, 1}).copy({.order = 'A'}).strides() == bytes({12, 3, 1}));
  CHECK(array_equal(x.copy({.order = 'F'}), x));
  const ndarray columns = x.to_device("cpu").copy({.order = 'F'});
  CHECK(columns.data<float>()[1] == 12);
  CHECK_THROWS_WITH_AS(x.copy({.order = 'X'}), "[copy] order is C, F, A or K, not 'X'", value_error);
  CHECK_THROWS_WITH_AS(x.reshape({4, 6}, {.order = 'K'}), "[reshape] order is C, F or A, not 'K'", value_error);
  CHECK_THROWS_AS(x.reshape({5, 5}, {.order = 'F'}), shape_error);
}

TEST_CASE("arrays are made in the order that is asked for") {
  const dtype t = float32;
  CHECK(zeros({2, 3, 4}, {.dtype = t, .order = 'F'}).strides() == bytes({1, 2, 6}));
  CHECK(ones({2, 3, 4}, {.dtype = t, .order = 'F'}).strides() == bytes({1, 2, 6}));
  CHECK(empty({2, 3, 4}, {.dtype = t, .order = 'F'}).strides() == bytes({1, 2, 6}));
  CHECK(full({2, 3}, 7, {.dtype = t, .order = 'F'}).strides() == bytes({1, 2}));
  CHECK(zeros({2, 3}, {.dtype = t}).strides() == bytes({3, 1}));
  const ndarray rows = full({2, 3}, array({1, 2, 3}), {.order = 'F'});
  CHECK(isfortran(rows));
  CHECK(array_equal(rows, array({{1, 2, 3}, {1, 2, 3}})));
  for (const ndarray& x : {array({{1, 2}, {3, 4}}, {.order = 'F'}), array(array({{1, 2}, {3, 4}}), {.order = 'F'}),
                           asarray(array({{1, 2}, {3, 4}}), {.order = 'F'})}) {
    CHECK(isfortran(x));
    CHECK(array_equal(x, array({{1, 2}, {3, 4}})));
  }
  for (const ndarray& x :
       {eye(3, {.columns = 4, .order = 'F'}), identity(3, {.order = 'F'}), indices({2, 3}, {.order = 'F'}),
        mgrid({{0, 2}, {0, 3}}, {.order = 'F'}), fromfunction("i0 * 10 + i1", {2, 3}, {.order = 'F'})})
    CHECK(isfortran(x));
  CHECK(array_equal(fromfunction("i0 * 10 + i1", {2, 3}, {.order = 'F'}), array({{0, 1, 2}, {10, 11, 12}})));
  CHECK(array_equal(eye(3, {.columns = 4, .k = 1, .order = 'F'}), eye(3, {.columns = 4, .k = 1})));
  CHECK(zeros({0, 3}, {.order = 'F'}).shape() == shape_t{0, 3});
  CHECK(zeros({}, {.order = 'F'}).shape() == shape_t{});
  // It owns its elements, and writes reach them.
  const ndarray w = zeros({2, 3}, {.dtype = t, .order = 'F'});
  w(0, _) = 5;
  CHECK(isfortran(w));
  if (w.device().kind == device_kind::cpu) CHECK(w.data<float>()[2] == 5);
  CHECK(sum(w).item<float>() == 15);
  CHECK_THROWS_WITH_AS(zeros({2}, {.order = 'K'}), "[zeros] order is C or F, not 'K'", value_error);
  CHECK_THROWS_AS(array({1}, {.order = 'A'}), value_error);
  CHECK_THROWS_AS(ascontiguousarray(w, {.order = 'F'}), value_error);
}

TEST_CASE("arrays like another lie as it does where that is asked for") {
  const ndarray x = box(), turned = permute_dims(x, axes{1, 2, 0});
  CHECK(zeros_like(turned).strides() == bytes({8, 2, 1}));
  CHECK(zeros_like(turned, {.order = 'K'}).strides() == bytes({4, 1, 12}));
  CHECK(empty_like(turned, {.order = 'K'}).strides() == bytes({4, 1, 12}));
  CHECK(ones_like(turned, {.order = 'A'}).strides() == bytes({8, 2, 1}));
  CHECK(ones_like(x.T(), {.order = 'A'}).strides() == bytes({1, 4, 12}));
  CHECK(ones_like(x, {.order = 'F'}).strides() == bytes({1, 2, 6}));
  const ndarray filled = full_like(turned, array({1, 2}), {.order = 'K'});
  CHECK(filled.strides() == bytes({4, 1, 12}));
  CHECK(array_equal(filled, broadcast_to(array({1, 2}), {3, 4, 2})));
  CHECK(zeros_like(turned, {.order = 'K', .shape = shape_t{2, 5}}).strides() == bytes({5, 1}));
  CHECK(zeros_like(x.T(), {.order = 'A', .shape = shape_t{2, 5}}).strides() == bytes({1, 2}));
  CHECK(zeros_like(turned, {.order = 'K', .shape = shape_t{2, 5, 3}}).strides() == bytes({5, 1, 10}));
  CHECK(zeros_like(x, {.dtype = float64, .shape = shape_t{7}}).dtype() == float64);
  CHECK_THROWS_WITH_AS(zeros_like(x, {.order = 'X'}), "[zeros_like] order is C, F, A or K, not 'X'", value_error);
}

TEST_CASE("asfortranarray copies what does not lie by columns") {
  const ndarray x = box(), f = asfortranarray(x);
  CHECK_FALSE(isfortran(x));
  CHECK(isfortran(f));
  CHECK(isfortran(x.T()));
  CHECK_FALSE(isfortran(arange(5)));
  f(0, 0, 0) = 99;
  CHECK(x(0, 0, 0).item<float>() == 0);
  const ndarray same = asfortranarray(f);
  same(0, 0, 0) = 7;
  CHECK(f(0, 0, 0).item<float>() == 7);
  // A reshape in Fortran order of what lies so is a view.
  f.reshape({6, 4}, {.copy = false, .order = 'F'})(0, 0) = 5;
  CHECK(f(0, 0, 0).item<float>() == 5);
}

TEST_CASE("a view in another dtype shares the bytes, both ways") {
  ndarray x = zeros({2, 4}, float32);
  const ndarray bits = x.view(uint32), halves = x.view(uint16);
  CHECK(halves.shape() == shape_t{2, 8});
  x(1, 2) = 1.0f;
  CHECK(bits(1, 2).item<std::uint32_t>() == 0x3f800000);
  CHECK(halves(1, 5).item<int>() == 0x3f80);
  bits(0, 0) = 0xbf800000;
  CHECK(x(0, 0).item<float>() == -1);
  x += 1;
  CHECK(bits(1, 2).item<std::uint32_t>() == 0x40000000);
  const ndarray column = x(_, slice(1, 3)).view(int32);
  CHECK(column.shape() == shape_t{2, 2});
  column(1, 1) = 0;
  CHECK(x(1, 2).item<float>() == 0);
  // Pending, read-only and of another storage size.
  const ndarray pending = (arange(4, {.dtype = float64}) + 1).view(complex128);
  CHECK(pending.to_vector<std::complex<double>>() == std::vector<std::complex<double>>{{1, 2}, {3, 4}});
  CHECK_THROWS_AS(broadcast_to(x(0), {3, 4}).view(int32)(0, 0) = 1, value_error);
}

TEST_CASE("views that have no such elements are refused") {
  const ndarray x = zeros({2, 3}, float32);
  CHECK_THROWS_WITH_AS(x.view(float64),
                       "[view] the last axis of shape (2, 3) and dtype float32 does not divide into float64",
                       shape_error);
  CHECK_THROWS_AS(x.T().view(int16), value_error);
  CHECK_THROWS_AS(zeros({}, float32).view(int16), shape_error);
  CHECK_THROWS_AS(zeros({2, 4}, float32)(_, slice(1, 3)).view(float64), value_error);
  CHECK_THROWS_AS(zeros({2, 3}, float32)(_, slice(0, 2)).view(float64), value_error);
}

TEST_CASE("complex parts are written through temporaries and names") {
  ndarray z = zeros({2, 3}, complex64);
  const ndarray seen = z(0);
  z.imag() = arange(3);
  real(z) = array({{1.0}, {2.0}});
  CHECK(seen.to_vector<std::complex<float>>() == std::vector<std::complex<float>>{{1, 0}, {1, 1}, {1, 2}});
  z(1).real() = INFINITY;
  real(z(1))(slice(2)) *= -1;
  CHECK(z(1, 0).item<std::complex<double>>() == std::complex<double>(-INFINITY, 0));
  CHECK(z(1, 2).item<std::complex<double>>() == std::complex<double>(INFINITY, 2));
  auto named = z.imag();
  z.imag() = -z.imag();
  CHECK(named(0).to_vector<float>() == std::vector<float>{0, -1, -2});
  CHECK(imag(z)(0).to_vector<float>() == std::vector<float>{0, -1, -2});
  named = zeros({1});
  CHECK(z(0, 2).item<std::complex<double>>() == std::complex<double>(1, -2));
  ndarray x = ones({3});
  x.real() = 5;
  CHECK(x(0).item<double>() == 5);
  CHECK_THROWS_WITH_AS(x.imag() = 1, "[imag] an array of float64 has no imaginary parts to write", dtype_error);
  CHECK_THROWS_AS(z.imag() = zeros({4}), shape_error);
  const ndarray repeated = broadcast_to(z(0), {4, 3});
  CHECK_THROWS_AS(repeated.real() = 1, value_error);
}
