// The arrays that configurations of a kernel are tried on: restored in place, compared bit for bit or within a
// tolerance.
#include "ops/tuning/sample_arrays.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;
using sn::ops::sample_arrays;

namespace {

/// Writes one element as a kernel would: into the memory, without recording it.
template <class T>
void poke(const ndarray& x, std::int64_t at, T value) {
  const auto& v = sn::ops::view_of(x, "poke");
  char* memory = static_cast<char*>(sn::graph::begin_write(v));
  sn::runtime::get_backend(v.device())
      .copy_from_host(memory + at * static_cast<std::int64_t>(sizeof(T)), &value, sizeof value);
}

std::string difference_of(const ndarray& x, const std::function<void()>& change, sn::ops::result_tolerance t = {}) {
  sample_arrays samples({{1, x}}, t);
  samples.keep();
  change();
  return samples.difference();
}

}  // namespace

TEST_CASE("sample arrays: they are restored in place, and views see it") {
  const ndarray x = sn::arange(6, {.dtype = sn::float32}) + 1.0;  // pending
  const ndarray row = x(slice(2, 4)), doubled = x * 2.0;
  sample_arrays samples({{0, x}, {3, row}}, {});
  poke(x, 0, 50.f);
  poke(row, 0, 70.f);
  CHECK(x.to_vector<float>() == std::vector<float>{50, 2, 70, 4, 5, 6});
  CHECK(doubled.to_vector<float>() == std::vector<float>{2, 4, 6, 8, 10, 12});  // recorded before the writes
  const void* before = sn::graph::begin_write(sn::ops::view_of(x, "test"));
  for (int round = 0; round < 3; ++round) {
    samples.restore();
    CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(row.to_vector<float>() == std::vector<float>{3, 4});
    CHECK(sn::graph::begin_write(sn::ops::view_of(x, "test")) == before);  // a launch then copies nothing
    poke(x, 1, -1.f);
  }
}

TEST_CASE("sample arrays: arrays of one storage are kept once; empty ones are nothing") {
  const ndarray x = sn::zeros({4, 4}, sn::float32) + 1.0;
  sn::eval(x);
  const sn::device d = sn::default_device();
  const std::size_t before = sn::memory(d).used;
  sample_arrays one({{0, x}, {1, x(0)}, {2, x.T()}}, {});
  const std::size_t each = sn::memory(d).used - before;
  sample_arrays again({{0, x}}, {});
  CHECK(sn::memory(d).used - before == 2 * each);
  sample_arrays empty({{0, sn::zeros({0, 3}, sn::float32)}}, {});
  empty.restore();
  empty.keep();
  CHECK(empty.difference() == "");
}

TEST_CASE("sample arrays: arrays whose address is out are restored where they are") {
  const ndarray x = sn::array({1.0, 2.0, 3.0});
  const double* const address = x.data<double>();
  sample_arrays samples({{0, x}}, {});
  poke(x, 1, 9.0);
  CHECK(x.to_vector<double>() == std::vector<double>{1, 9, 3});
  samples.restore();
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 3});
  CHECK(x.data<double>() == address);
}

TEST_CASE("sample arrays: results are compared bit for bit, and the difference says where and what") {
  const ndarray x = sn::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, {.dtype = sn::float32});
  CHECK(difference_of(x, [] {}) == "");
  CHECK(difference_of(x, [&] {
          poke(x, 4, std::nextafter(5.f, 6.f));
        }).find("argument 1 (float32, shape (2, 3)) in 1 of 6 elements, first at (1, 1): 5.0") == 0);
  const ndarray n = sn::array({1, 2, 3, 4});
  CHECK(difference_of(n, [&] {
          poke(n, 2, std::int64_t{9});
          poke(n, 3, std::int64_t{9});
        }) == "argument 1 (int64, shape (4,)) in 2 of 4 elements, first at 2: 9 instead of 3");
  const ndarray b = sn::array({true, false});
  CHECK(difference_of(b, [&] { poke(b, 1, true); }) ==
        "argument 1 (bool, shape (2,)) in 1 of 2 elements, first at 1: True instead of False");
  const ndarray scalar = sn::array(2.5);
  CHECK(difference_of(scalar, [&] { poke(scalar, 0, 3.5); }) ==
        "argument 1 (float64, shape ()) in 1 of 1 elements, first at (): 3.5 instead of 2.5");
}

TEST_CASE("sample arrays: zeros of other signs differ, any NaN is any other") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ndarray x = sn::array(std::vector<float>{0.f, nan, 1.f});
  CHECK(difference_of(x, [&] { poke(x, 0, -0.f); }) != "");
  CHECK(difference_of(x, [&] { poke(x, 1, -nan); }) == "");
  CHECK(difference_of(x, [&] { poke(x, 1, 2.f); }) != "");
  CHECK(difference_of(x, [&] { poke(x, 2, nan); }) != "");
  using complex = std::complex<double>;
  const ndarray z = sn::array(std::vector<complex>{{0, 1}, {2, 3}});
  CHECK(difference_of(z, [&] { poke(z, 0, complex(-0.0, 1)); }) != "");
  CHECK(difference_of(z, [&] { poke(z, 1, complex(2, 4)); }) != "");
  CHECK(difference_of(z, [&] { poke(z, 1, complex(2, 4)); }) == "");  // it was so before
}

TEST_CASE("sample arrays: with a tolerance floating-point results may differ so much, integers not at all") {
  const ndarray x = sn::array({100.0, 0.0});
  CHECK(difference_of(x, [&] { poke(x, 0, 100.09); }, {.rtol = 1e-3, .atol = {}}) == "");
  CHECK(difference_of(x, [&] { poke(x, 0, 100.3); }, {.rtol = 1e-3, .atol = {}}) != "");
  CHECK(difference_of(x, [&] { poke(x, 1, 1e-9); }, {.rtol = 1e-3, .atol = {}}) != "");
  CHECK(difference_of(x, [&] { poke(x, 1, 2e-9); }, {.rtol = {}, .atol = 1e-8}) == "");
  CHECK(difference_of(x, [&] { poke(x, 1, std::numeric_limits<double>::quiet_NaN()); }, {.rtol = {}, .atol = 1.0}) !=
        "");
  const ndarray n = sn::array({1000000, 2});
  CHECK(difference_of(n, [&] { poke(n, 0, std::int64_t{1000001}); }, {.rtol = 1e-3, .atol = 10}) != "");
}
