// Additions and writes by position on the host: for all types, one after the other, by the algorithms themselves and by add_at
// and x(i) = v.
#include <doctest/doctest.h>

#include <algorithm>
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

namespace {

/// Values for positions of which many come again, so that the last one counts; a third of the positions count from the end.
struct repeated_writes {
  std::vector<std::int64_t> at;
  std::vector<double> values, before, after;

  repeated_writes(std::size_t size, std::size_t writes) : before(size) {
    for (std::size_t k = 0; k < size; ++k) before[k] = -1.0 - static_cast<double>(k);
    after = before;
    for (std::size_t k = 0; k < writes; ++k) {
      const std::size_t to = k * k * 7919 % size;
      at.push_back(static_cast<std::int64_t>(to) - (k % 3 == 0 ? static_cast<std::int64_t>(size) : 0));
      values.push_back(static_cast<double>(k));
      after[to] = static_cast<double>(k);
    }
  }
};

template <class T>
void check_writes(dtype type) {
  CAPTURE(name(type));
  const repeated_writes w(37, 500);
  std::vector<T> to(w.before.begin(), w.before.end()), v(w.values.begin(), w.values.end());
  std::vector<std::int64_t> at = w.at;
  for (std::int64_t& k : at) k = k < 0 ? k + 37 : k;
  host().write_in_order(type, static_cast<std::int64_t>(v.size()), at.data(), v.data(), to.data());
  CHECK(to == std::vector<T>(w.after.begin(), w.after.end()));
  host().write_in_order(type, 0, at.data(), v.data(), to.data());
  CHECK(to == std::vector<T>(w.after.begin(), w.after.end()));
}

ndarray on_host(const auto& v) { return array(v, {.device = cpu}); }

}  // namespace

TEST_CASE("the host writes elements of every size one after the other") {
  check_writes<std::uint8_t>(dtype::u8);
  check_writes<std::int16_t>(dtype::i16);
  check_writes<float>(dtype::f32);
  check_writes<double>(dtype::f64);
  check_writes<std::complex<double>>(dtype::c128);
}

TEST_CASE("x(i) = v: the last of equal positions counts, in vectors, views, rows and pairs of indices") {
  const repeated_writes w(300, 5000);
  const ndarray at = on_host(w.at), values = on_host(w.values);
  const ndarray x = on_host(w.before);
  x(at) = values;
  CHECK(x.to_vector<double>() == w.after);
  // every other element of an array, whose others stay
  const ndarray wide = repeat(on_host(w.before), 2), every = wide(slice(idx::_, idx::_, 2));
  every(at) = values;
  CHECK(every.to_vector<double>() == w.after);
  CHECK(wide(slice(1, idx::_, 2)).to_vector<double>() == w.before);
  // rows of 5 by one index, elements by two
  const ndarray rows = repeat(reshape(on_host(w.before), {300, 1}), 5, 1);
  rows(at) = reshape(values, {5000, 1}) + zeros({5}, {.device = cpu});
  CHECK(rows.to_vector<double>() == repeat(reshape(on_host(w.after), {300, 1}), 5, 1).to_vector<double>());
  const ndarray square = reshape(on_host(w.before), {20, 15}).copy();
  square(floor_divide(remainder(at, 300), 15), remainder(at, 15)) = values;
  CHECK(ravel(square).to_vector<double>() == w.after);
}

TEST_CASE("x(i) = v: the values are those that were there before, and an index out of range changes nothing") {
  std::vector<std::int64_t> down(1000);
  for (std::size_t k = 0; k < down.size(); ++k) down[k] = 999 - static_cast<std::int64_t>(k);
  const ndarray x = arange(1000, {.device = cpu}).copy(), y = x;
  x(on_host(down)) = x;
  CHECK(x.to_vector<std::int64_t>() == down);
  CHECK(y.to_vector<std::int64_t>() == down);
  for (const std::int64_t bad : {std::int64_t{1000}, std::int64_t{-1001}}) {
    const auto write = [&] {
      x(on_host(std::vector<std::int64_t>{3, bad, 4})) = on_host(std::vector<std::int64_t>{-7, -8, -9});
      eval(x);
    };
    CHECK_THROWS_AS(write(), index_error);
    CHECK(x.to_vector<std::int64_t>() == down);
  }
}
