// Order among complex numbers on every device: each combination of finite, infinite and NaN parts, in every function
// that compares, against NumPy's rules.
#include "support/complex_order.hpp"

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"

using namespace sinter;

namespace {

/// The CPU, and the default device where that is another one.
std::vector<device> devices() {
  std::vector<device> d{cpu};
  if (default_device().kind == device_kind::cuda) d.push_back(default_device());
  return d;
}

template <class R>
struct sweep {
  using order = test::complex_order<R>;
  using value = std::complex<R>;
  static constexpr std::size_t row_count = 1000;

  device on;

  ndarray matrix(const std::vector<value>& x, std::size_t columns) const {
    return reshape(array(x, {.device = on}), {-1, static_cast<std::int64_t>(columns)});
  }

  void check_values(const ndarray& got, const std::vector<value>& expected, bool (*same)(value, value)) const {
    const std::vector<value> values = got.to_vector<value>();
    REQUIRE(values.size() == expected.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      CAPTURE(k);
      CHECK(same(values[k], expected[k]));
    }
  }

  /// Along the last axis, along the first, and of one long row.
  void extremes() const {
    for (const std::size_t columns : {6, 13, 300}) {
      CAPTURE(columns);
      const auto x = order::rows(row_count, columns, static_cast<unsigned>(columns));
      const ndarray rows = matrix(x, columns), across = rows.T().copy();
      for (const bool low : {true, false}) {
        CAPTURE(low);
        std::vector<std::int64_t> places;
        std::vector<value> best;
        for (std::size_t r = 0; r < row_count; ++r) {
          places.push_back(order::place(&x[r * columns], columns, low));
          best.push_back(x[r * columns + static_cast<std::size_t>(places.back())]);
        }
        CHECK((low ? argmin(rows, 1) : argmax(rows, 1)).template to_vector<std::int64_t>() == places);
        CHECK((low ? argmin(across, 0) : argmax(across, 0)).template to_vector<std::int64_t>() == places);
        check_values(low ? min(rows, 1) : max(rows, 1), best, order::same);
        check_values(low ? min(across, 0) : max(across, 0), best, order::same);
        const std::int64_t first = order::place(x.data(), x.size(), low);
        CHECK((low ? argmin(rows) : argmax(rows)).template item<std::int64_t>() == first);
        CHECK(order::same((low ? min(rows) : max(rows)).template item<value>(), x[static_cast<std::size_t>(first)]));
      }
    }
  }

  /// Rows that a warp sorts, rows that a block sorts, and one row that the whole device does.
  void sorts() const {
    for (const std::size_t columns : {6, 700, 9000}) {
      CAPTURE(columns);
      const auto x = order::rows(columns < 9000 ? row_count : 1, columns, static_cast<unsigned>(columns) + 1);
      const ndarray rows = matrix(x, columns);
      for (const bool descending : {false, true}) {
        CAPTURE(descending);
        std::vector<std::int64_t> positions;
        std::vector<value> sorted;
        for (std::size_t r = 0; r < x.size() / columns; ++r)
          for (const std::int64_t k : order::sorting(&x[r * columns], columns, descending)) {
            positions.push_back(k);
            sorted.push_back(x[r * columns + static_cast<std::size_t>(k)]);
          }
        CHECK(argsort(rows, 1, {.descending = descending}).template to_vector<std::int64_t>() == positions);
        check_values(sort(rows, 1, {.descending = descending}), sorted, order::same_parts);
      }
    }
  }

  void sets() const {
    const std::vector<value> all = order::all();
    std::vector<value> x;
    for (std::size_t k = 0; k < 40; ++k) x.push_back(all[k * 7 % all.size()]);
    std::vector<value> expected;
    for (const std::int64_t k : order::sorting(all.data(), all.size()))
      if (const value z = all[static_cast<std::size_t>(k)]; !order::is_nan(z)) expected.push_back(z);
    const std::size_t numbers = expected.size();
    const ndarray distinct = unique(array(x, {.device = on}));
    const std::vector<value> got = distinct.to_vector<value>();
    REQUIRE(got.size() == numbers + 1);  // all NaN are one
    CHECK(std::vector<value>(got.begin(), got.end() - 1) == expected);
    CHECK(order::is_nan(got.back()));
    // Places among the sorted numbers: NaN comes after them all.
    const ndarray line = array(expected, {.device = on});
    for (const char* side : {"left", "right"}) {
      const auto at = searchsorted(line, array(all, {.device = on}), side).template to_vector<std::int64_t>();
      for (std::size_t k = 0; k < all.size(); ++k) {
        const auto before = std::count_if(expected.begin(), expected.end(), [&](value e) {
          return order::sorts_before(e, all[k]) || (*side == 'r' && !order::sorts_before(all[k], e));
        });
        CAPTURE(k);
        CHECK(at[k] == before);
      }
    }
  }

  void pairs() const {
    const std::vector<value> all = order::all();
    std::vector<value> a, b;
    for (const value x : all)
      for (const value y : all) {
        a.push_back(x);
        b.push_back(y);
      }
    const ndarray x = array(a, {.device = on}), y = array(b, {.device = on});
    const auto pick = [&](const std::function<bool(value, value)>& first) {
      std::vector<value> r;
      for (std::size_t k = 0; k < a.size(); ++k) r.push_back(first(a[k], b[k]) ? a[k] : b[k]);
      return r;
    };
    const auto nan = order::is_nan;
    const auto less = order::less;
    const auto parts = order::same_parts;
    check_values(maximum(x, y), pick([&](value p, value q) { return nan(p) || (!nan(q) && !less(p, q)); }), parts);
    check_values(minimum(x, y), pick([&](value p, value q) { return nan(p) || (!nan(q) && !less(q, p)); }), parts);
    check_values(fmax(x, y), pick([&](value p, value q) { return nan(q) || (!nan(p) && !less(p, q)); }), parts);
    check_values(fmin(x, y), pick([&](value p, value q) { return nan(q) || (!nan(p) && !less(q, p)); }), parts);
    const auto holds = [&](const ndarray& got, const std::function<bool(value, value)>& rule) {
      const std::vector<bool> flags = got.to_vector<bool>();
      for (std::size_t k = 0; k < a.size(); ++k) {
        CAPTURE(k);
        CHECK(flags[k] == rule(a[k], b[k]));
      }
    };
    holds(x < y, less);
    holds(x > y, [&](value p, value q) { return less(q, p); });
    holds(x <= y, [&](value p, value q) { return less(p, q) || p == q; });
    holds(x >= y, [&](value p, value q) { return less(q, p) || p == q; });
    holds(x == y, [](value p, value q) { return p == q; });
    holds(x != y, [](value p, value q) { return p != q; });
    // Running extremes meet each pair in this order.
    for (const bool low : {true, false}) {
      const ndarray both = stack({x, y}, 1);
      const auto first = [&](value p, value q) { return nan(p) || (!nan(q) && !(low ? less(q, p) : less(p, q))); };
      check_values((low ? cummin(both, 1) : cummax(both, 1))(idx::_, 1), pick(first), parts);
    }
  }

  void of_one() const {
    const std::vector<value> all = order::all();
    const ndarray z = array(all, {.device = on});
    const auto nans = isnan(z).template to_vector<bool>(), infinities = isinf(z).template to_vector<bool>(),
               finite = isfinite(z).template to_vector<bool>();
    const auto signs = sign(z).template to_vector<value>();
    const R nan = std::numeric_limits<R>::quiet_NaN();
    for (std::size_t k = 0; k < all.size(); ++k) {
      CAPTURE(k);
      const R re = all[k].real(), im = all[k].imag();
      CHECK(nans[k] == (std::isnan(re) || std::isnan(im)));
      CHECK(infinities[k] == (std::isinf(re) || std::isinf(im)));
      CHECK(finite[k] == (std::isfinite(re) && std::isfinite(im)));
      // An infinite part alone gives its direction, also beside NaN; two have none.
      const auto direction = [](R x) { return std::isinf(x) ? std::copysign(R(1), x) : R(0); };
      if (infinities[k] && !(std::isinf(re) && std::isinf(im))) {
        CHECK(signs[k] == value(direction(re), direction(im)));
      } else if (!finite[k]) {
        CHECK(order::same_parts(signs[k], value(nan, nan)));
      } else {
        CHECK(std::abs(signs[k] - all[k] / std::abs(all[k])) < 4 * std::numeric_limits<R>::epsilon());
      }
    }
  }

  void run() const {
    CAPTURE(to_string(on));
    CAPTURE(sizeof(R));
    extremes();
    sorts();
    sets();
    pairs();
    of_one();
  }
};

}  // namespace

TEST_CASE("order among complex numbers is NumPy's on every device, whatever parts are infinite or NaN") {
  for (const device d : devices()) {
    sweep<float>{d}.run();
    sweep<double>{d}.run();
  }
}

TEST_CASE("the first NaN is the least and the greatest complex number, also beside an infinity") {
  using z = std::complex<float>;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<z> x{{-1.125F, -2.25F}, {-4.625F, 3.25F}, {2.75F, -4.5F},
                         {-3.5F, 1.125F},   {inf, nan},       {3.25F, 2.875F}};
  for (const device d : devices()) {
    CAPTURE(to_string(d));
    CHECK(argmin(array(x, {.device = d})).item<std::int64_t>() == 4);
    CHECK(argmax(array(x, {.device = d})).item<std::int64_t>() == 4);
  }
}
