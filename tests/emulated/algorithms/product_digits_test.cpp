// Products of integers as products of digits: the CUDA backend's sequence of steps and its kernels, run thread by
// thread on the CPU, with a plain loop instead of cuBLAS. Compared with plain loops over the elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/digit_kernels.hpp"

namespace {

using namespace sinter::cuda::device;
using std::int64_t;

/// Element values: any, bytes 0 and 1, or the ones whose digits are largest.
enum class filling { random, logical, extreme };

template <class T>
std::vector<T> elements(std::size_t n, unsigned seed, filling how) {
  std::mt19937_64 random(seed);
  constexpr std::uint64_t top = std::uint64_t{1} << (8 * sizeof(T) - 1);
  // -128 in every digit, the least and the greatest signed number, -1, and 127 in every digit.
  const std::uint64_t low = ~std::uint64_t{0x7f7f7f7f7f7f7f7f} - 0x0101010101010100, full = 0x7f7f7f7f7f7f7f7f;
  const std::uint64_t extremes[] = {low, low, low, top, top - 1, ~std::uint64_t{0}, full, 0x80};
  std::vector<T> x(n);
  for (T& v : x) {
    const std::uint64_t any = random();
    v = static_cast<T>(how == filling::logical ? any % 16 == 0 : how == filling::extreme ? extremes[any % 8] : any);
  }
  return x;
}

/// Memory of a size, followed by inaccessible bytes; none of it is 0 at first.
class guarded {
 public:
  explicit guarded(int64_t bytes) : size_(static_cast<std::size_t>(bytes)), words_(size_ / 4 + 64, 0x5b5b5b5b) {}
  std::int32_t* words() { return words_.data(); }
  const signed char* bytes() const { return reinterpret_cast<const signed char*>(words_.data()); }
  bool holds(int64_t from, int64_t count) const { return from >= 0 && from + count <= static_cast<int64_t>(size_); }
  bool intact() const {
    return std::all_of(words_.begin() + static_cast<std::ptrdiff_t>(size_ / 4), words_.end(),
                       [](std::int32_t w) { return w == 0x5b5b5b5b; });
  }

 private:
  std::size_t size_;
  std::vector<std::int32_t> words_;
};

/// The device of multiply_digits, on the host.
template <class T>
struct host_device {
  const emulated::digit_kernels<T>& kernels;
  const T *a, *b;
  T* c;
  guarded a_digits, b_digits, sums;
  int products = 0;
  int64_t written = 0;  // sums since the last join

  static unsigned tiles(int64_t n, int64_t tile) { return static_cast<unsigned>((n + tile - 1) / tile); }

  void split(const split_job& s, const T* from, guarded& to) {
    CHECK(to.holds(0, s.matrices * s.padded_lines * static_cast<int64_t>(sizeof(T)) * s.padded_inner));
    const cuda_emulator::index3 grid{tiles(s.padded_inner, emulated::split_tile),
                                     tiles(s.padded_lines, emulated::split_tile), static_cast<unsigned>(s.matrices)};
    auto* const words = reinterpret_cast<std::uint32_t*>(to.words());
    CHECK(cuda_emulator::launch(grid, {emulated::split_threads}, [&] { kernels.split(s, from, words); }) ==
          std::string());
  }
  void split_a(const split_job& s, int64_t offset) { split(s, a + offset, a_digits); }
  void split_b(const split_job& s, int64_t offset) { split(s, b + offset, b_digits); }

  /// What cuBLAS requires, and that 32 bits hold the sums.
  void multiply(const digit_product& p) {
    ++products;
    CHECK((p.rows % 16 == 0 && p.columns % 16 == 0 && p.depth % 16 == 0 && p.leading % 16 == 0));
    CHECK((p.b_offset % 16 == 0 && p.a_stride % 16 == 0 && p.b_stride % 16 == 0 && p.sums_offset % 4 == 0));
    CHECK(a_digits.holds(0, (p.matrices - 1) * p.a_stride + (p.rows - 1) * p.leading + p.depth));
    CHECK(b_digits.holds(p.b_offset, (p.matrices - 1) * p.b_stride + (p.columns - 1) * p.leading + p.depth));
    CHECK(sums.holds(4 * p.sums_offset, 4 * ((p.matrices - 1) * p.sums_stride + p.rows * p.columns)));
    int64_t greatest = 0;
    for (int64_t z = 0; z < p.matrices; ++z)
      for (int64_t i = 0; i < p.rows; ++i)
        for (int64_t j = 0; j < p.columns; ++j) {
          const signed char* x = a_digits.bytes() + z * p.a_stride + i * p.leading;
          const signed char* y = b_digits.bytes() + p.b_offset + z * p.b_stride + j * p.leading;
          int64_t sum = 0;
          for (int64_t k = 0; k < p.depth; ++k) sum += int64_t{x[k]} * y[k];
          greatest = std::max(greatest, sum < 0 ? -sum : sum);
          sums.words()[p.sums_offset + z * p.sums_stride + i * p.columns + j] = static_cast<std::int32_t>(sum);
        }
    CHECK(greatest <= std::numeric_limits<std::int32_t>::max());
    written += p.matrices * p.rows * p.columns;
  }

  void join(const join_job& s, int64_t offset) {
    // Vectors are read whole, with padding: products have written all of it.
    CHECK(written == static_cast<int64_t>(sizeof(T)) * s.matrices * s.padded_rows * s.padded_columns);
    written = 0;
    const int64_t quads = s.rows * (s.padded_columns / emulated::join_each);
    const cuda_emulator::index3 grid{tiles(quads, emulated::join_threads), static_cast<unsigned>(s.matrices), 1};
    CHECK(cuda_emulator::launch(grid, {emulated::join_threads}, [&] { kernels.join(s, sums.words(), c + offset); }) ==
          std::string());
  }
};

template <class T>
void check_digits(const emulated::digit_kernels<T>& kernels, const product_shape& s, const digit_limits& limits,
                  filling how) {
  constexpr int64_t room = 60000;
  const auto a = elements<T>(room, 1, how), b = elements<T>(room, 2, how);
  std::vector<T> got(room, 77), expected(room, 77);
  const T *a0 = a.data() + room / 2, *b0 = b.data() + room / 2;
  for (int64_t z = 0; z < s.batch[0] * s.batch[1]; ++z) {
    const auto at = [&](const product_strides& m) { return z / s.batch[1] * m.batch[0] + z % s.batch[1] * m.batch[1]; };
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.columns; ++j) {
        std::uint64_t sum = 0;
        for (int64_t k = 0; k < s.inner; ++k) {
          const std::uint64_t x = a0[at(s.a) + i * s.a.row + k * s.a.column];
          const std::uint64_t y = b0[at(s.b) + k * s.b.row + j * s.b.column];
          sum = how == filling::logical ? sum | (x & y) : sum + x * y;
        }
        expected[static_cast<std::size_t>(room / 2 + at(s.c) + i * s.c.row + j * s.c.column)] = static_cast<T>(sum);
      }
  }
  const bool transposes = lies_by_columns(s.c);
  const product_shape by_rows = transposes ? transposed(s) : s;
  const int planes = static_cast<int>(sizeof(T));
  const digit_parts parts = parts_of(by_rows, planes, limits);
  host_device<T> device{kernels,
                        transposes ? b0 : a0,
                        transposes ? a0 : b0,
                        got.data() + room / 2,
                        guarded(parts.a_bytes),
                        guarded(parts.b_bytes),
                        guarded(parts.sums_bytes)};
  multiply_digits(by_rows, planes, parts, device);
  CHECK(got == expected);
  CHECK((device.a_digits.intact() && device.b_digits.intact() && device.sums.intact()));
  CHECK(device.products >= planes);
}

void check_all_types(const product_shape& s, const digit_limits& limits = {}) {
  check_digits(emulated::digits_bool, s, limits, filling::logical);
  for (const filling how : {filling::random, filling::extreme}) {
    check_digits(emulated::digits_u8, s, limits, how);
    check_digits(emulated::digits_u16, s, limits, how);
    check_digits(emulated::digits_u32, s, limits, how);
    check_digits(emulated::digits_u64, s, limits, how);
  }
}

bool left_out() {
  if (!cuda_emulator::available()) MESSAGE("left out: the sanitizer does not follow changes of stack");
  return !cuda_emulator::available();
}

}  // namespace

TEST_CASE("products of digits give what a plain loop does modulo every width, for any extents and strides") {
  if (left_out()) return;
  check_all_types({1, 1, 1, {1, 1}, {1, 1, {0, 0}}, {1, 1, {0, 0}}, {1, 1, {0, 0}}});
  check_all_types({3, 31, 33, {1, 1}, {33, 1, {0, 0}}, {31, 1, {0, 0}}, {31, 1, {0, 0}}});
  check_all_types({70, 68, 65, {1, 1}, {65, 1, {0, 0}}, {68, 1, {0, 0}}, {68, 1, {0, 0}}});
  check_all_types({65, 33, 257, {1, 1}, {1, 65, {0, 0}}, {1, 257, {0, 0}}, {1, 65, {0, 0}}});  // all by columns
  check_all_types({2, 3, 4000, {1, 1}, {4000, 1, {0, 0}}, {3, 1, {0, 0}}, {3, 1, {0, 0}}});    // long sums
  check_all_types({6, 5, 4, {1, 2}, {-8, 2, {0, -60}}, {10, -2, {0, 0}}, {10, 2, {0, 100}}});  // backwards, gaps
  check_all_types({20, 16, 5, {1, 1}, {5, 1, {0, 0}}, {16, 1, {0, 0}}, {19, -1, {0, 0}}});     // columns backwards
  check_all_types({4, 3, 20, {2, 3}, {20, 1, {0, 80}}, {3, 1, {60, 0}}, {3, 1, {36, 12}}});    // two batch axes
}

TEST_CASE("products of digits in parts: of rows, columns, sums and stacks") {
  if (left_out()) return;
  const product_shape one{50, 37, 90, {1, 1}, {90, 1, {0, 0}}, {37, 1, {0, 0}}, {41, 1, {0, 0}}};
  check_all_types(one, {16, 128});  // 64 bits: 16 elements at a time
  check_all_types(one, {32, 256});
  check_all_types({50, 37, 90, {1, 1}, {1, 50, {0, 0}}, {1, 90, {0, 0}}, {1, 53, {0, 0}}}, {32, 256});
  const product_shape stack{17, 5, 40, {2, 5}, {40, 1, {3400, 680}}, {5, 1, {0, 200}}, {5, 1, {425, 85}}};
  check_all_types(stack, {64, 1024});  // parts of the stack that end within an axis
  check_all_types(stack, {16, 128});
  CHECK(parts_of(stack, 1, {64, 1024}).matrices == 8);
}

TEST_CASE("parts keep every sum within 32 bits and scratch memory within bounds") {
  for (const int planes : {1, 2, 4, 8})
    for (const int64_t rows : {64, 1000, 4097, 100000})
      for (const int64_t columns : {64, 4096, 30000})
        for (const int64_t inner : {128, 8193, 65537, 10000000})
          for (const int64_t batch : {1, 7, 1000000}) {
            const digit_parts p = parts_of({rows, columns, inner, {1, batch}, {}, {}, {}}, planes);
            CHECK((p.rows > 0 && p.columns > 0 && p.inner > 0 && p.matrices > 0));
            CHECK((p.rows % 16 == 0 && p.columns % 16 == 0 && p.inner % 16 == 0 && p.matrices <= batch));
            CHECK(128 * 128 * planes * p.inner <= std::numeric_limits<std::int32_t>::max());
            CHECK(p.a_bytes + p.b_bytes + p.sums_bytes <= int64_t{1} << 30);
          }
  CHECK(parts_of({2048, 2048, 2048, {1, 1}, {}, {}, {}}, 8).inner == 2048);  // nothing that fits is split
}

TEST_CASE("digits are for large products of wide matrices") {
  CHECK(digits_pay({2048, 2048, 2048, {1, 1}, {}, {}, {}}));
  CHECK(digits_pay({64, 64, 128, {1, 128}, {}, {}, {}}));
  CHECK(!digits_pay({256, 256, 256, {1, 1}, {}, {}, {}}));
  CHECK(!digits_pay({100000, 32, 4096, {1, 1}, {}, {}, {}}));
  CHECK(!digits_pay({4096, 4096, 64, {1, 1}, {}, {}, {}}));
}
