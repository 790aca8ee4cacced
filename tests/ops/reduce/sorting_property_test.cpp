// Sorting, selection of ranks, sets and scans through the public functions, on whichever device the suite runs: every
// dtype, bfloat16 among them, every pattern of elements, every axis. A result must be sorted, a permutation, and
// stable.
#include <array>

#include "sinter/sinter.hpp"
#include "support/algorithm_cases.hpp"

using namespace algorithm_cases;

namespace {

template <class T>
struct subject {
  std::vector<T> values;  // C order
  std::vector<std::int64_t> extents;
  int axis;

  std::int64_t extent(int a) const { return extents[static_cast<std::size_t>(a)]; }
  std::int64_t columns() const { return extent(axis); }
  std::int64_t rows() const { return columns() ? static_cast<std::int64_t>(values.size()) / columns() : 0; }
  ndarray upload() const { return reshape(array(values), shape_t(extents)); }
  /// Elements of an array of this shape, the axis last.
  template <class U>
  std::vector<U> by_rows(const std::vector<U>& all) const {
    std::int64_t inner = 1;
    for (std::size_t a = static_cast<std::size_t>(axis) + 1; a < extents.size(); ++a) inner *= extents[a];
    std::vector<U> out;
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t c = 0; c < columns(); ++c)
        out.push_back(all[static_cast<std::size_t>((r / inner * columns() + c) * inner + r % inner)]);
    return out;
  }
};

template <class T>
auto bits_of_element(const T& x) {
  std::array<unsigned char, sizeof(T)> bits;
  std::memcpy(bits.data(), &x, sizeof(T));
  return bits;
}

template <class T>
bool is_nan_element(const T& x) {
  if constexpr (is_complex_type<T>) return x.real() != x.real() || x.imag() != x.imag();
  else if constexpr (std::is_integral_v<T>) return false;
  else return static_cast<float>(x) != static_cast<float>(x);
}

/// Whether rows hold the expected elements to the bit; where NaNs are expected, NaNs that are those of the row. Kernels
/// that move 16-bit floats on their way do so as float32, which may quiet a NaN: of these any NaN will do.
template <class T>
bool same_rows(const std::vector<T>& got, const std::vector<T>& expected, std::int64_t columns) {
  if (got.size() != expected.size()) return false;
  for (std::size_t begin = 0; begin < got.size(); begin += static_cast<std::size_t>(columns)) {
    std::vector<std::array<unsigned char, sizeof(T)>> nans, expected_nans;
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(columns); ++i) {
      const T a = got[i], b = expected[i];
      if (is_nan_element(a) != is_nan_element(b)) return false;
      if (is_nan_element(a)) {
        if (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) continue;
        nans.push_back(bits_of_element(a));
        expected_nans.push_back(bits_of_element(b));
      } else if (bits_of_element(a) != bits_of_element(b)) {
        return false;
      }
    }
    std::sort(nans.begin(), nans.end());
    std::sort(expected_nans.begin(), expected_nans.end());
    if (nans != expected_nans) return false;
  }
  return true;
}

template <class T>
void check_sorts(const subject<T>& s, bool descending) {
  const auto rows = s.by_rows(s.values);
  const auto order = stable_order(rows, s.rows(), s.columns(), descending);
  const ndarray x = s.upload();
  const auto got = s.by_rows(argsort(x, s.axis, {.descending = descending}).template to_vector<std::int64_t>());
  CHECK(got == order);
  const auto sorted = s.by_rows(sort(x, s.axis, {.descending = descending}).template to_vector<T>());
  CHECK(same_rows(sorted, gathered(rows, s.columns(), order), s.columns()));
}

template <class T>
void check_ranks(const subject<T>& s) {
  const auto rows = s.by_rows(s.values);
  const std::int64_t k = s.columns() / 3;
  const ndarray x = s.upload();
  for (bool largest : {false, true}) {
    const topk_result r = topk(x, k, {.axis = s.axis, .largest = largest});
    const auto order = stable_order(rows, s.rows(), s.columns(), largest);
    const subject<T> few{std::vector<T>(static_cast<std::size_t>(s.rows() * k)),
                         [&] {
                           auto extents = s.extents;
                           extents[static_cast<std::size_t>(s.axis)] = k;
                           return extents;
                         }(),
                         s.axis};
    const auto got = few.by_rows(r.indices.template to_vector<std::int64_t>());
    std::vector<std::int64_t> expected;
    for (std::int64_t row = 0; row < s.rows(); ++row)
      expected.insert(expected.end(), order.begin() + row * s.columns(), order.begin() + row * s.columns() + k);
    CHECK(got == expected);
  }
  if (s.columns() == 0) return;
  const auto parted = s.by_rows(partition(x, k, s.axis).template to_vector<T>());
  bool right = true;
  for (std::int64_t row = 0; row < s.rows(); ++row)
    for (std::int64_t c = 0; c < s.columns(); ++c) {
      const T here = parted[static_cast<std::size_t>(row * s.columns() + c)];
      const T pivot = parted[static_cast<std::size_t>(row * s.columns() + k)];
      right = right && !(c < k ? sorts_before(pivot, here) : sorts_before(here, pivot));
    }
  CHECK(right);
}

template <class T>
bool equal_elements(const T& a, const T& b) {
  return !sorts_before(a, b) && !sorts_before(b, a) && !is_nan_element(a) && !is_nan_element(b);
}

/// NaNs are elements by themselves for unique_all.
template <class T>
void check_sets(const std::vector<T>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const ndarray x = array(values);
  const auto order = stable_order(values, 1, n, false);
  std::vector<std::int64_t> first, counts, inverse(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const T here = values[static_cast<std::size_t>(order[i])];
    if (i == 0 || !equal_elements<T>(values[static_cast<std::size_t>(order[i - 1])], here)) {
      first.push_back(order[i]);
      counts.push_back(0);
    }
    ++counts.back();
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(first.size()) - 1;
  }
  const unique_all_result r = unique_all(x);
  CHECK(r.indices.to_vector<std::int64_t>() == first);
  CHECK(r.counts.to_vector<std::int64_t>() == counts);
  CHECK(r.inverse_indices.to_vector<std::int64_t>() == inverse);
  std::vector<T> expected;
  for (std::int64_t i : first) expected.push_back(values[static_cast<std::size_t>(i)]);
  CHECK(same_rows(r.values.to_vector<T>(), expected, static_cast<std::int64_t>(expected.size())));
  CHECK(same_rows(unique_values(x).to_vector<T>(), expected, static_cast<std::int64_t>(expected.size())));

  // A search finds each element's run in the sorted array, on both sides.
  const ndarray sorted = sort(x);
  const auto left = searchsorted(sorted, x).to_vector<std::int64_t>();
  const auto right = searchsorted(sorted, x, "right").to_vector<std::int64_t>();
  bool found = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<std::size_t>(order[i]);
    const auto rank = static_cast<std::int64_t>(i);
    const auto same = [&](std::int64_t k) {  // NaNs are equal here
      const T a = values[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])], b = values[at];
      return !sorts_before(a, b) && !sorts_before(b, a);
    };
    found = found && left[at] <= rank && rank < right[at] && (left[at] == 0 || !same(left[at] - 1)) &&
            (right[at] == n || !same(right[at]));
  }
  CHECK(found);
}

}  // namespace

TEST_CASE("sort and argsort along every axis: sorted, a permutation, stable, both ways, of every dtype and pattern") {
  unsigned seed = 100;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : all_patterns)
        for (const auto& extents : {std::vector<std::int64_t>{700}, {37, 29}, {5, 40, 7}, {0, 4}}) {
          std::int64_t n = 1;
          for (auto e : extents) n *= e;
          const auto values = sorted_values<T>(p, n, ++seed);
          CAPTURE(name(t));
          const std::string what = name_of(p);
          CAPTURE(what);
          for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis)
            check_sorts<T>({values, extents, axis}, (seed + static_cast<unsigned>(axis)) % 2 == 1);
        }
    });
}

TEST_CASE("sort and argsort of a few long rows and columns, longer than a block of threads holds") {
  unsigned seed = 900;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : {pattern::bits, pattern::specials}) {
        const auto values = make_values<T>(p, 3 * 20011, ++seed);
        CAPTURE(name(t));
        check_sorts<T>({values, {3, 20011}, 1}, p == pattern::bits);
        check_sorts<T>({values, {20011, 3}, 0}, p == pattern::specials);
        check_sorts<T>({values, {3 * 20011}, 0}, p == pattern::specials);
      }
    });
}

TEST_CASE("topk and partition agree with sorting") {
  unsigned seed = 1300;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : {pattern::numbers, pattern::few, pattern::specials})
        for (const auto& extents : {std::vector<std::int64_t>{100}, {13, 9}}) {
          const auto values = make_values<T>(p, extents.size() == 1 ? 100 : 117, ++seed);
          CAPTURE(name(t));
          for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) check_ranks<T>({values, extents, axis});
        }
    });
}

TEST_CASE("unique_all and searchsorted know the runs of equal elements of every dtype") {
  unsigned seed = 1500;
  for (dtype t : all_dtypes())
    with_element(t, [&]<class T>(T) {
      for (pattern p : {pattern::bits, pattern::few, pattern::specials, pattern::equal, pattern::outliers}) {
        CAPTURE(name(t));
        const std::string what = name_of(p);
        CAPTURE(what);
        check_sets<T>(make_values<T>(p, 900, ++seed));
      }
    });
}

TEST_CASE("lexsort sorts by the last key, then by the one before it, and keeps the order of what is left") {
  std::mt19937_64 random(3);
  const std::int64_t n = 2000;
  std::vector<std::vector<std::int64_t>> keys(3);
  for (auto& k : keys)
    for (std::int64_t i = 0; i < n; ++i) k.push_back(static_cast<std::int64_t>(random() % 6));
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    for (std::size_t k = keys.size(); k-- > 0;) {
      const auto x = keys[k][static_cast<std::size_t>(a)], y = keys[k][static_cast<std::size_t>(b)];
      if (x != y) return x < y;
    }
    return false;
  });
  const ndarray x = array(keys[0]).astype(float32), y = array(keys[1]), z = array(keys[2]).astype(uint8);
  CHECK(lexsort({x, y, z}).to_vector<std::int64_t>() == order);
  CHECK(lexsort(stack({array(keys[0]), y, array(keys[2])})).to_vector<std::int64_t>() == order);
}

TEST_CASE("scans of floating-point numbers have the same bits in every run") {
  for (dtype t : {float16, float32, float64, complex64})
    for (const shape_t& shape : {shape_t{300000}, shape_t{300, 1000}, shape_t{1000, 300}}) {
      const ndarray x = reshape((sin(arange(300000.0)) * 3).astype(t), shape);
      for (int axis = 0; axis < shape.ndim(); ++axis) {
        const auto run = [&] { return cumsum(x, axis).astype(complex128).to_vector<std::complex<double>>(); };
        const auto first = run();
        CHECK(run() == first);
        CHECK(cumsum(x + 0, axis).astype(complex128).to_vector<std::complex<double>>() == first);
      }
    }
}
