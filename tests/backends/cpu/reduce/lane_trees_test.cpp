// Loops over whole rows by every instruction set that the machine has: lanes joined as neighbours and by halves.
#include <doctest/doctest.h>

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
  }
}

template <class T>
void check_type() {
  for (const int rows : {1, 3, 8, 19, 33})
    for (const int columns : {5, 32, 33, 47, 160, 259})
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
