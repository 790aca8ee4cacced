// Additions by position on the host: for all types, one after the other, by the algorithm itself and by add_at.
#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/algorithms/algorithms.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;

runtime::algorithms& host() { return runtime::get_backend(runtime::device_id{}).algorithms(); }

/// Numbers whose sum depends on the order: a large one, many that are lost beside it, and the large one taken away.
template <class T>
std::vector<T> ordered_numbers() {
  std::vector<T> v{T(1), static_cast<T>(1e17), T(1), T(3), static_cast<T>(-1e17), T(1), T(5)};
  return v;
}

template <class T>
void check_order(dtype type) {
  CAPTURE(name(type));
  REQUIRE(host().adds_in_order(type));
  const std::vector<T> v = ordered_numbers<T>();
  std::vector<std::int64_t> at(v.size(), 1);
  at.back() = 2;
  std::vector<T> sums(4, T(0)), want = sums;
  for (std::size_t k = 0; k < v.size(); ++k) {
    T& to = want[static_cast<std::size_t>(at[k])];
    to = static_cast<T>(to + v[k]);
  }
  host().add_in_order(type, static_cast<std::int64_t>(v.size()), at.data(), v.data(), sums.data());
  CHECK(sums == want);
  CHECK(sums[1] == T(1));  // what came before the large number is lost, what came after it is not
  host().add_in_order(type, 0, at.data(), v.data(), sums.data());
  CHECK(sums == want);
}

}  // namespace

TEST_CASE("the host adds numbers whose sum depends on the order one after the other") {
  check_order<float>(dtype::f32);
  check_order<double>(dtype::f64);
  check_order<std::complex<float>>(dtype::c64);
  check_order<std::complex<double>>(dtype::c128);
  for (const dtype type :
       {dtype::i8, dtype::u8, dtype::i16, dtype::u16, dtype::i32, dtype::u32, dtype::i64, dtype::u64})
    CHECK(host().adds_in_order(type));
  // A half would have to be rounded after each addition, and truth values are not added.
  CHECK_FALSE(host().adds_in_order(dtype::f16));
  CHECK_FALSE(host().adds_in_order(dtype::b1));
}

TEST_CASE("add_at on the host has the sums of a loop without being asked for them, at any size") {
  std::vector<double> want(5, 0.0), v(40000);
  std::vector<std::int64_t> at(v.size());
  for (std::size_t k = 0; k < v.size(); ++k) {
    v[k] = 1.0 / static_cast<double>(3 * k + 1);
    at[k] = static_cast<std::int64_t>(k * 7 % 5) - (k % 2 == 0 ? 5 : 0);
    want[static_cast<std::size_t>(at[k] < 0 ? at[k] + 5 : at[k])] += v[k];
  }
  const ndarray x = zeros({5}, {.dtype = float64, .device = cpu});
  add_at(x, array(at, {.device = cpu}), array(v, {.device = cpu}));
  CHECK(x.to_vector<double>() == want);
}
