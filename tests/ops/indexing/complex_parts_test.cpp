// Real and imaginary parts as views of complex arrays.
#include <complex>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "sinter/sinter.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using namespace std::complex_literals;
using complexes = std::vector<std::complex<double>>;
using doubles = std::vector<double>;

complexes values(const ndarray& z) { return z.to_vector<std::complex<double>>(); }
doubles reals(const ndarray& x) { return x.to_vector<double>(); }
/// 3 rows of 4: k + 100k i.
ndarray grid() {
  const ndarray k = arange(12.0).reshape({3, 4});
  return k + 100i * k;
}

}  // namespace

TEST_CASE("complex parts: strides of whole numbers, the same memory") {
  for (const bool pending : {false, true}) {
    ndarray z = grid();
    if (!pending) eval(z);
    ndarray re = z.real(), im = imag(z);
    CHECK(re.dtype() == float64);
    CHECK(re.shape() == shape_t{3, 4});
    CHECK(re.strides() == std::vector<std::int64_t>{64, 16});
    CHECK(imag(z.T()).strides() == std::vector<std::int64_t>{16, 64});
    CHECK(z["::-1, 1::2"].imag().strides() == std::vector<std::int64_t>{-64, 32});
    CHECK(real(z.astype(complex64)).dtype() == float32);
    CHECK(shares_memory(re, z));
    CHECK(shares_memory(im, z(2, 3)));
    CHECK(may_share_memory(re, im));
    CHECK_FALSE(shares_memory(re, im));
    CHECK_FALSE(shares_memory(re(slice(0, 1)), z(slice(1, 3))));
    CHECK(reals(im(1)) == doubles{400, 500, 600, 700});
    CHECK(reals(re.T()(0)) == doubles{0, 4, 8});
    CHECK(im(2, 3).item<double>() == 1100);
  }
}

TEST_CASE("complex parts: what is written shows in the array, and what is written to the array in them") {
  for (const bool pending : {false, true}) {
    ndarray z = grid();
    if (!pending) eval(z);
    ndarray re = z.real(), im = z.imag();
    const ndarray before = z.copy(), sum_of = re + im;
    im(0) = -1;
    re += 1;
    re["1:, ::2"] *= 10;
    im.T()(3) = array({7.0, 8.0, 9.0});
    z(2, 0) = 5.0 + 6i;
    CHECK(values(z) == complexes{1.0 - 1i, 2.0 - 1i, 3.0 - 1i, 4.0 + 7i, 50.0 + 400i, 6.0 + 500i, 70.0 + 600i, 8.0 + 8i,
                                 5.0 + 6i, 10.0 + 900i, 110.0 + 1000i, 12.0 + 9i});
    CHECK(reals(re(2)) == doubles{5, 10, 110, 12});
    CHECK(reals(im(2)) == doubles{6, 900, 1000, 9});
    CHECK(values(before) == values(grid()));
    CHECK(reals(sum_of(2)) == doubles{808, 909, 1010, 1111});
    imag(z(1)) = re(1);  // read before it is written
    CHECK(reals(im(1)) == doubles{50, 6, 70, 8});
    im["::-1"] = im.copy();
    CHECK(reals(im(_, 0)) == doubles{6, 50, -1});
    im(_) = im["::-1"];
    CHECK(reals(im(_, 0)) == doubles{-1, 50, 6});
  }
}

TEST_CASE("complex parts: masks, index arrays, flat positions, out=") {
  ndarray z = grid();
  eval(z);
  ndarray re = real(z), im = imag(z);
  re[re > 8] = -2;
  im[list{2, 0}] = array({{1.0}, {2.0}});
  im(list{1, 1, 1}, list{0, 0, 3}) += 0.5;
  re(list{0, 0}, list{1, 1}) = array({11.0, 12.0});  // the last one wins
  put(im, array({5, -1}), array({71.0, 72.0}));
  CHECK(values(z) == complexes{0.0 + 2i, 12.0 + 2i, 2.0 + 2i, 3.0 + 2i, 4.0 + 400.5i, 5.0 + 71i, 6.0 + 600i,
                               7.0 + 700.5i, 8.0 + 1i, -2.0 + 1i, -2.0 + 1i, -2.0 + 72i});
  add_at(re(list{0, 0, 0}), array({1.0, 1.0, 1.0, 1.0}));
  scatter_max(im[list{1, 1}], 650);
  add_at(im(list{2, 2}, list{0, 0}), 1, {.deterministic = true});
  CHECK(reals(re(0)) == doubles{3, 15, 5, 6});
  CHECK(reals(im(1)) == doubles{650, 650, 650, 700.5});
  CHECK(im(2, 0).item<double>() == 3);
  add(ones({3, 4}), 1, {.out = re});
  matmul(ones({3, 2}), ones({2, 4}) * 3, {.out = im});
  CHECK(values(z) == complexes(12, 2.0 + 6i));
  cumsum(ones({4}), {.out = re(1)});
  CHECK(reals(re(1)) == doubles{1, 2, 3, 4});
  re(1)["::-1"].sort();
  CHECK(reals(re(1)) == doubles{4, 3, 2, 1});
  im.fill(0);
  CHECK(values(z(1)) == complexes{4, 3, 2, 1});
  CHECK_THROWS_AS(re(list{0, 3}) = 1, index_error);
}

TEST_CASE("complex parts: one element, none, many axes") {
  ndarray z = array({1.0 + 2i});
  ndarray one = z.imag();
  one += 1;
  one[list{0}] = one * 2;
  cumsum(one + 1, {.out = one});
  CHECK(values(z) == complexes{1.0 + 7i});
  ndarray first = z.real();
  first += 2;
  first[list{0}] = first * 2;
  CHECK(values(z) == complexes{6.0 + 7i});
  CHECK(first.strides() == std::vector<std::int64_t>{16});
  ndarray scalar_array = ndarray(z(0)).copy();
  ndarray part = scalar_array.real();
  part(ellipsis) = 4;
  CHECK(scalar_array.item<std::complex<double>>() == 4.0 + 7i);
  ndarray none = zeros({0, 3}, complex64);
  none.imag() = 3;
  imag(none) += 1;
  CHECK(none.imag().size() == 0);
  ndarray cube = zeros({2, 3, 4}, complex128);
  moveaxis(imag(cube), 0, 2)(_, _, 1) = arange(12.0).reshape({3, 4}).copy();
  CHECK(reals(cube(1).imag()(2)) == doubles{8, 9, 10, 11});
  ndarray flat = reshape(imag(cube), {24});
  flat(slice(0, 2)) = 5;
  CHECK(cube(0, 0, 1).item<std::complex<double>>() == 5i);
  CHECK(values(as_strided(real(cube), {.shape = shape_t{2}, .strides = std::vector<std::int64_t>{16}})) ==
        complexes{0, 0});
  CHECK_THROWS_AS(as_strided(real(cube), {.strides = std::vector<std::int64_t>{192, 64, 8}}), value_error);
  CHECK_THROWS_AS(as_strided(real(cube), {.shape = shape_t{25}, .strides = std::vector<std::int64_t>{16}}),
                  value_error);
}

TEST_CASE("complex parts: real arrays are their own real parts and have no others") {
  ndarray x = arange(3.0);
  ndarray re = real(x), im = imag(x);
  CHECK(shares_memory(re, x));
  re += 1;
  CHECK(reals(x) == doubles{1, 2, 3});
  CHECK(reals(im) == doubles{0, 0, 0});
  CHECK_FALSE(shares_memory(im, x));
  CHECK_THROWS_WITH_AS(im += 1, "[imag] an array of float64 has no imaginary parts to write", dtype_error);
  CHECK_THROWS_AS(im(0) = 1, dtype_error);
  CHECK(imag(array({1, 2})).dtype() == int64);
  ndarray z = zeros({2}, complex64);
  CHECK_THROWS_AS(z.imag() += 1i, dtype_error);
  CHECK_THROWS_AS(broadcast_to(z, {3, 2})(0).real() = 1, value_error);
  CHECK_THROWS_AS(z.real() = zeros({3}), shape_error);
}

TEST_CASE("complex parts: parts of what nothing else refers to are values") {
  const ndarray x = arange(4.0);
  CHECK(real(x + 1i).strides() == std::vector<std::int64_t>{8});
  CHECK((x * 2i).imag().strides() == std::vector<std::int64_t>{8});
  ndarray z = x + 2i;
  ndarray turned = real(z.reshape({2, 2}).T());  // of a view of what z refers to
  turned(0, 1) = 9;
  CHECK(reals(z.real()) == doubles{0, 1, 9, 3});
}

TEST_CASE("complex parts: addresses, other dtypes, memory of others") {
  const device_guard on_the_host(cpu);
  ndarray z = arange(6.0) + 0.5i;
  ndarray im = z.imag();
  double* const at = im.data<double>();
  at[2 * 4] = 44;
  CHECK(z(4).item<std::complex<double>>() == 4.0 + 44i);
  im(1) = 11;  // pinned now
  im["2:4"] += 1;
  z.real()(_) = im;
  CHECK(values(z) == complexes{0.5 + 0.5i, 11.0 + 11i, 1.5 + 1.5i, 1.5 + 1.5i, 44.0 + 44i, 0.5 + 0.5i});
  im[list{0, 5}] = array({-3.0, -4.0});
  CHECK(values(z(5)) == complexes{0.5 - 4i});
  CHECK(z.imag().view(int64)(1).item<std::int64_t>() == 0x4026000000000000);
  std::vector<std::complex<float>> theirs{{1, 2}, {3, 4}};
  ndarray over = from_pointer(theirs.data(), {2}, complex64, {.device = cpu});
  over.imag() = 8;
  synchronize(cpu);
  CHECK(theirs[1] == std::complex<float>(3, 8));
  theirs[0] = {5, 6};
  CHECK(real(over)(0).item<float>() == 5);
}

TEST_CASE("complex parts: written where the numbers lie within larger memory, and by address") {
  ndarray z;
  {
    ndarray all = arange(12.0) + 1i;
    eval(all);
    z = all(slice(3, 9)).copy();
    eval(z);
  }
  z.imag()[list{5, 0}] = array({7.0, 8.0});
  z.imag()[list{2, 3}] = 9;
  add_at(real(z)[list{1, 1}], 10);
  CHECK(values(z) == complexes{3.0 + 8i, 24.0 + 1i, 5.0 + 9i, 6.0 + 9i, 7.0 + 1i, 8.0 + 7i});
  for (const shape_t& shape : {shape_t{}, shape_t{1}, shape_t{0, 3}, shape_t{2}}) {
    const ndarray numbers = zeros(shape, complex64), parts = numbers.real();
    CHECK_FALSE(ops::view_of(parts, "test").whole);
  }
  const device_guard on_the_host(cpu);
  ndarray y = arange(4.0) + 1i, part = imag(y(slice(1, 3)));
  {
    const graph::array_view& v = ops::view_of(part, "test");
    const graph::write_lock mine(*v.store);
    static_cast<double*>(graph::begin_write(v))[0] = 5;
    CHECK(graph::in_c_order(v) == false);
  }
  CHECK(values(y) == complexes{1i, 1.0 + 5i, 2.0 + 1i, 3.0 + 1i});
}

TEST_CASE("complex parts: read within the kernel that needs them") {
  ndarray z = zeros({64, 64}, complex64);
  eval(z);
  const auto launches = [] { return runtime::get_backend(runtime::default_device()).statistics().launches; };
  const auto before = launches();
  const ndarray both = real(z) * 2 + z.imag();
  eval(both);
  CHECK(launches() - before == 1);
  z.imag() = both + 1;
  eval(z);
  CHECK(launches() - before == 2);
}

TEST_CASE("complex parts: derivatives follow reads and writes") {
  const ndarray x = arange(1.0, 5.0);
  const auto f = [](const ndarray& t) {
    ndarray z = (t * t).astype(complex128);
    z.imag() = 3 * t;
    ndarray re = real(z);
    re(slice(0, 2)) *= t(slice(2, 4));
    imag(z) += re;
    return sum(real(z) * imag(z));
  };
  // re = t0^2 t2, t1^2 t3, t2^2, t3^2; the sum of re (3 t + re)
  const doubles t{1, 2, 3, 4}, re{3, 16, 9, 16};
  doubles of_re, want;
  for (int k = 0; k < 4; ++k) of_re.push_back(3 * t[k] + 2 * re[k]);
  want = {of_re[0] * 2 * t[0] * t[2] + 3 * re[0], of_re[1] * 2 * t[1] * t[3] + 3 * re[1],
          of_re[2] * 2 * t[2] + 3 * re[2] + of_re[0] * t[0] * t[0],
          of_re[3] * 2 * t[3] + 3 * re[3] + of_re[1] * t[1] * t[1]};
  CHECK(reals(grad(f)(x)) == want);
  const ndarray rows = stack({x, 2 * x, x + 1});
  const ndarray each = vmap(f)(rows), slopes = vmap(grad(f))(rows);
  for (int k = 0; k < 3; ++k) {
    CHECK(each(k).item<double>() == f(rows(k)).item<double>());
    CHECK(reals(slopes(k)) == reals(grad(f)(rows(k))));
  }
}

TEST_CASE("complex parts: loops and captures write through them") {
  ndarray z = zeros({4}, complex128);
  eval(z);
  const auto g = capture(stream({.device = default_device()}), [&] { z.imag() += arange(4.0); });
  g.launch();
  g.launch();
  CHECK(reals(z.imag()) == doubles{0, 2, 4, 6});
  const ndarray end = fori_loop(
      0, 3,
      [](const ndarray&, const ndarray& c) {
        ndarray next = c.copy();
        next.real() += next.imag();
        return next;
      },
      z);
  CHECK(values(end) == complexes{0, 6.0 + 2i, 12.0 + 4i, 18.0 + 6i});
  const ndarray k = grid();
  const ndarray summed = fori_loop(
      0, 3, [](const ndarray&, const ndarray& c) { return ndarray(c + 1); }, ndarray(k.imag()(1)));
  CHECK(reals(summed) == doubles{403, 503, 603, 703});
  CHECK(reals(k.imag()(1)) == doubles{400, 500, 600, 700});
  CHECK(reals(z.imag()) == doubles{0, 2, 4, 6});
}
