// Sorting on the GPU against a plain stable sort: every dtype, NaNs and zeros of both signs, short and long rows.
#ifdef SINTER_HAS_CUDA

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;

namespace {

struct rows_case {
  dtype type;
  pattern what;
  int64_t rows, columns;
  bool descending;
};

std::string describe(const rows_case& c) {
  return std::string(sinter::name(c.type)) + ", " + name_of(c.what) + ", " + std::to_string(c.rows) + " x " +
         std::to_string(c.columns) + (c.descending ? ", descending" : ", ascending");
}

/// The permutation of each row, one row after the other.
std::vector<int64_t> expected_positions(const rows_case& c, const bytes& data) {
  std::vector<int64_t> all, order(static_cast<size_t>(c.columns));
  for (int64_t r = 0; r < c.rows; ++r) {
    stable_sort_positions(c.type, c.descending,
                          data.data() + static_cast<size_t>(r * c.columns) * sinter::itemsize(c.type), order);
    all.insert(all.end(), order.begin(), order.end());
  }
  return all;
}

bytes gathered(const rows_case& c, const bytes& data, const std::vector<int64_t>& positions) {
  const size_t item = sinter::itemsize(c.type);
  bytes out(data.size());
  for (size_t k = 0; k < positions.size(); ++k) {
    const size_t row = k / static_cast<size_t>(c.columns) * static_cast<size_t>(c.columns);
    std::memcpy(&out[k * item], &data[(row + static_cast<size_t>(positions[k])) * item], item);
  }
  return out;
}

/// The elements' bits in an order of their own, row by row: nothing was lost and nothing was made up.
bytes bits_in_order(const rows_case& c, const bytes& data) {
  const size_t item = sinter::itemsize(c.type), row = static_cast<size_t>(c.columns) * item;
  std::vector<std::string> elements(static_cast<size_t>(c.columns));
  bytes out;
  for (size_t at = 0; at < data.size(); at += row) {
    for (size_t k = 0; k < elements.size(); ++k)
      elements[k].assign(reinterpret_cast<const char*>(&data[at + k * item]), item);
    std::sort(elements.begin(), elements.end());
    for (auto& e : elements) out.insert(out.end(), e.begin(), e.end());
  }
  return out;
}

/// Documented: 1.2 times the data and 10 MiB.
bool is_bounded(size_t scratch, size_t data, size_t indices) {
  return static_cast<double>(scratch) <= 1.2 * static_cast<double>(data) + static_cast<double>(indices) + 10 * 0x1p20;
}

void check_rows(runtime::backend& b, const rows_case& c) {
  const std::string what = describe(c);
  CAPTURE(what);
  const int64_t count = c.rows * c.columns;
  const bytes data = make_elements(c.type, c.what, count, static_cast<unsigned>(count % 1000) + 7);
  const std::vector<int64_t> order = expected_positions(c, data);
  const bytes expected = gathered(c, data, order);
  const runtime::row_layout layout{c.type, c.rows, c.columns};
  runtime::algorithms& a = b.algorithms();

  const device_array keys(b, data), result(b, static_cast<size_t>(count) * 8);
  const size_t argsort_bytes = a.argsort_scratch(layout);
  CHECK(is_bounded(argsort_bytes, data.size(), static_cast<size_t>(count) * 4));
  {
    const device_array scratch(b, argsort_bytes);
    a.argsort(layout, c.descending, keys.data(), result.as<int64_t>(), scratch.data());
    const auto got = result.to_host_as<int64_t>();
    const auto wrong = std::mismatch(got.begin(), got.end(), order.begin());
    CHECK_MESSAGE(wrong.first == got.end(), "argsort differs at ", wrong.first - got.begin());
    CHECK(keys.to_host() == data);
  }
  const size_t sort_bytes = a.sort_scratch(layout);
  CHECK(is_bounded(sort_bytes, data.size(), 0));
  const device_array scratch(b, sort_bytes);
  const device_array apart(b, data.size());
  a.sort(layout, c.descending, keys.data(), apart.data(), scratch.data());
  CHECK(keys.to_host() == data);
  a.sort(layout, c.descending, keys.data(), keys.data(), scratch.data());
  for (const bytes& got : {apart.to_host(), keys.to_host()}) {
    CHECK(first_difference(c.type, got, expected) == -1);
    if (sinter::is_inexact(c.type)) CHECK(bits_in_order(c, got) == bits_in_order(c, data));
  }
}

}  // namespace

TEST_CASE("gpu: sort and argsort of one row of each dtype, pattern and direction agree with a stable sort") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : all_dtypes())
    for (pattern p : all_patterns)
      for (bool down : {false, true})
        for (int64_t n : {int64_t{1}, int64_t{2}, int64_t{31}, int64_t{32}, int64_t{33}, int64_t{1000}, int64_t{4097},
                          int64_t{20011}})
          if (n < 1000 || p != pattern::equal) check_rows(*b, {t, p, 1, n, down});
}

TEST_CASE("gpu: sort and argsort of many rows, short and long, agree with a stable sort") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  const int64_t shapes[][2] = {{1001, 1}, {5003, 2}, {3001, 3}, {1000, 7},  {501, 16},  {333, 33},
                               {100, 65}, {77, 130}, {40, 257}, {33, 513},  {17, 1024}, {9, 1025},
                               {5, 2049}, {3, 4100}, {5, 8200}, {12, 17000}};
  for (dtype t : all_dtypes())
    for (auto [rows, columns] : shapes)
      for (pattern p : {pattern::bits, pattern::specials})
        check_rows(*b, {t, p, rows, columns, (rows + columns) % 2 == 0});
}

TEST_CASE("gpu: sort and argsort of long rows agree with a stable sort") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (dtype t : all_dtypes())
    for (bool down : {false, true}) {
      const pattern p = down ? pattern::specials : pattern::bits;
      check_rows(*b, {t, p, 1, (int64_t{1} << 20) + 3, down});
      if (t == dtype::f32 || t == dtype::c64 || t == dtype::i8)
        check_rows(*b, {t, p, 2, (int64_t{1} << 20) + 3, !down});
    }
}

TEST_CASE("gpu: nothing to sort is no error") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  const int64_t shapes[][2] = {{0, 5}, {5, 0}, {0, 0}, {1, 0}, {0, 100000}};
  for (auto [rows, columns] : shapes) {
    const runtime::row_layout layout{dtype::f32, rows, columns};
    const device_array data(*b, size_t{0}), result(*b, size_t{0});
    const device_array scratch(*b,
                               std::max(b->algorithms().sort_scratch(layout), b->algorithms().argsort_scratch(layout)));
    b->algorithms().sort(layout, false, data.data(), data.data(), scratch.data());
    b->algorithms().argsort(layout, false, data.data(), result.as<int64_t>(), scratch.data());
    b->synchronize();
  }
}

TEST_CASE("gpu: scratch memory of sort and argsort keeps its bound where it matters") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  const int64_t shapes[][2] = {{1, int64_t{1} << 28}, {1, int64_t{3} << 30}, {1 << 18, 1024},
                               {1 << 12, 1 << 16},    {7, 1 << 25},          {3, 1 << 19}};
  for (dtype t : all_dtypes())
    for (auto [rows, columns] : shapes) {
      const runtime::row_layout layout{t, rows, columns};
      const size_t data = static_cast<size_t>(rows * columns) * sinter::itemsize(t);
      const std::string type(sinter::name(t));
      CAPTURE(type);
      CAPTURE(rows);
      CAPTURE(columns);
      CHECK(is_bounded(b->algorithms().sort_scratch(layout), data, 0));
      CHECK(is_bounded(b->algorithms().argsort_scratch(layout), data, static_cast<size_t>(rows * columns) * 4));
    }
}

#endif
