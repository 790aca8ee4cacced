// Loops over whole rows by every instruction set that the machine has: lanes joined as neighbours and by halves.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/addition_order.hpp"
#include "backends/cpu/reduce/reducers.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "sinter/dtype.hpp"

using namespace sinter;

namespace {

struct named_reducer {
  std::string isa;
  cpu::reducer steps;
};
std::vector<named_reducer> reducers_of(jit::reduce_op op, dtype type) {
  std::vector<named_reducer> all{{"baseline", cpu::baseline::make_reducer(op, type)}};
#if defined(__x86_64__)
  if (jit::tier0::active_isa() >= jit::tier0::isa::avx2) all.push_back({"avx2", cpu::avx2::make_reducer(op, type)});
  if (jit::tier0::active_isa() >= jit::tier0::isa::avx512)
    all.push_back({"avx512", cpu::avx512::make_reducer(op, type)});
#endif
  return all;
}

template <class T>
std::vector<T> row_of(std::size_t columns, std::size_t seed) {
  std::vector<T> x(columns);
  for (std::size_t k = 0; k < columns; ++k) {
    const double low = static_cast<double>((seed * 7919 + k) * 2654435761u % 1000003) / 1000003.0;
    x[k] = static_cast<T>((low - 0.4) * static_cast<double>(1 << (k * 7 % 11)));
    if constexpr (requires { x[k].imag(); }) x[k] += T(0, static_cast<typename T::value_type>(0.3 - low));
  }
  return x;
}

/// `rows` rows of as many elements, `lanes` lanes.
template <class T>
void check_sums(int rows, int columns, int lanes, bool halves) {
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(lanes);
  CAPTURE(halves);
  const jit::addition_order order{!halves, lanes, (columns + 3) / 4, 1, 1};
  std::vector<T> data, right;
  for (int r = 0; r < rows; ++r) {
    const std::vector<T> x = row_of<T>(static_cast<std::size_t>(columns), static_cast<std::size_t>(r));
    data.insert(data.end(), x.begin(), x.end());
    right.push_back(*order_test::joined(x, order, [](T a, T b) { return a + b; }));
  }
  for (const named_reducer& r : reducers_of(jit::reduce_op::sum, dtype_of<T>)) {
    CAPTURE(r.isa);
    std::vector<T> got(right.size() + 64), second(64);
    void* planes[cpu::max_planes] = {got.data(), second.data()};
    r.steps.whole_rows(planes, data.data(), columns * static_cast<std::int64_t>(sizeof(T)), rows, columns,
                       {lanes, halves});
    CHECK(std::memcmp(got.data(), right.data(), right.size() * sizeof(T)) == 0);
    if (!r.steps.product_rows) continue;
    const auto stride = columns * static_cast<std::int64_t>(sizeof(T));
    const std::vector<T> ones(data.size(), T(1));  // of which one row may be all
    for (const std::int64_t step : {stride, std::int64_t{0}}) {
      std::fill(got.begin(), got.end(), T(0));
      r.steps.product_rows(planes, {data.data(), stride, ones.data(), step}, rows, columns, {lanes, halves});
      CHECK(std::memcmp(got.data(), right.data(), right.size() * sizeof(T)) == 0);
    }
  }
}
/// One row times all others.
template <class T>
void check_products(int rows, int columns) {
  CAPTURE(rows);
  CAPTURE(columns);
  const std::vector<T> factors = row_of<T>(static_cast<std::size_t>(columns), 1000);
  std::vector<T> data, products;
  for (int r = 0; r < rows; ++r) {
    const std::vector<T> x = row_of<T>(static_cast<std::size_t>(columns), static_cast<std::size_t>(r));
    data.insert(data.end(), x.begin(), x.end());
    for (std::size_t k = 0; k < x.size(); ++k) products.push_back(x[k] * factors[k]);
  }
  const auto stride = columns * static_cast<std::int64_t>(sizeof(T));
  for (const named_reducer& r : reducers_of(jit::reduce_op::sum, dtype_of<T>)) {
    CAPTURE(r.isa);
    std::vector<T> got(static_cast<std::size_t>(rows) + 64), right(got.size()), second(64);
    void* to[cpu::max_planes] = {got.data(), second.data()};
    void* expected[cpu::max_planes] = {right.data(), second.data()};
    r.steps.product_rows(to, {factors.data(), 0, data.data(), stride}, rows, columns, {2, false});
    r.steps.whole_rows(expected, products.data(), stride, rows, columns, {2, false});
    CHECK(std::memcmp(got.data(), right.data(), static_cast<std::size_t>(rows) * sizeof(T)) == 0);
  }
}

template <class T>
void check_type() {
  for (const int rows : {1, 3, 8, 19, 33, 64})
    for (const int columns : {4, 5, 8, 12, 16, 32, 33, 47, 160, 259})
      for (const int lanes : {1, 2, 4, 8, 16, 32}) {
        check_sums<T>(rows, columns, lanes, false);
        if (lanes <= cpu::most_halved_lanes) check_sums<T>(rows, columns, lanes, true);
      }
}

}  // namespace

TEST_CASE("whole rows: lanes are joined as neighbours or by halves, by every instruction set") {
  check_type<float>();
  check_type<double>();
  check_type<std::complex<float>>();
  check_type<std::complex<double>>();
}

TEST_CASE("whole rows: products of one row with all others, of every length, by every instruction set") {
  for (const int rows : {1, 7, 16, 37, 64})
    for (const int columns : {3, 4, 7, 8, 13, 16, 20, 64}) {
      check_products<float>(rows, columns);
      check_products<double>(rows, columns);
    }
}
