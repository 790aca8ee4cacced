// Values of users' functions on a device, against computations on the host. The same cases run on the CPU and on a GPU.
#pragma once
#include <algorithm>
#include <cmath>

#include "support/users/functions.hpp"

namespace user_test {

/// n numbers of either sign that float16 represents.
template <class T = float>
std::vector<T> numbers(std::int64_t n, std::uint64_t seed = 1) {
  std::vector<T> x(static_cast<std::size_t>(n));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull;
  for (T& v : x) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(state >> 54) - 512) / 32);
  }
  return x;
}
template <class T>
std::vector<T> whole_numbers(std::int64_t n, int below, std::uint64_t seed = 1) {
  std::vector<T> x(static_cast<std::size_t>(n));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull;
  for (T& v : x) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = static_cast<T>((state >> 33) % static_cast<unsigned>(below));
  }
  return x;
}
/// What `f` gives for 0, 1, ...
template <class T, class F>
std::vector<T> made(std::int64_t n, F f) {
  std::vector<T> x;
  for (std::int64_t k = 0; k < n; ++k) x.push_back(static_cast<T>(f(k)));
  return x;
}
inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// ---- calls of elements

inline void check_fusion(runtime::device_id d) {
  constexpr std::int64_t n = 10007;
  const auto x = numbers(n), y = numbers(n, 2);
  const auto* f =
      function("square_plus", {par("x", dtype::f32), par("y", dtype::f32)}, {par("z", dtype::f32)}, "z = x * x + y;");
  value z = call(f, {n}, {plus(stored(x, d), 1), stored(y, d)});
  CHECK(elements<float>(add(times(z, 2), stored(x, d))) == made<float>(n, [&](auto k) {
          const float s = x[at(k)] + 1;
          return (s * s + y[at(k)]) * 2 + x[at(k)];
        }));
  const auto* g =
      function("half_of", {par("x", dtype::f32)}, {par("z", dtype::f32)}, "return x / 2;", {.returns = true});
  value twice = call(g, {n}, {call(g, {n}, {z})});
  CHECK(elements<float>(twice) == made<float>(n, [&](auto k) {
          const float s = x[at(k)] + 1;
          return (s * s + y[at(k)]) / 4;
        }));
  // A branch that does not assign leaves zero.
  const auto* h = function("positive", {par("x", dtype::f32)}, {par("z", dtype::f32)}, "if (x > 0) z = x;");
  CHECK(elements<float>(call(h, {n}, {stored(x, d)})) ==
        made<float>(n, [&](auto k) { return x[at(k)] > 0 ? x[at(k)] : 0; }));
}

inline void check_outputs(runtime::device_id d) {
  constexpr std::int64_t n = 1003;
  const auto x = numbers(n), y = numbers(n, 2);
  const auto* f = function("several", {par("x", dtype::f32), par("y", dtype::f32), par("i", dtype::i64)},
                           {par("s", dtype::f32), par("less", dtype::b1), par("k", dtype::i64), par("w", dtype::f64)},
                           "s = x + y; less = x < y; k = 3 * i; w = double(x) * y;");
  const std::vector<value> in{stored(x, d), stored(y, d), position({n}, d)};
  value s = call(f, {n}, in, 0), less = call(f, {n}, in, 1), k = call(f, {n}, in, 2), w = call(f, {n}, in, 3);
  const value roots[] = {w, s, k, less};
  graph::flush(roots);
  CHECK(elements<float>(s) == made<float>(n, [&](auto j) { return x[at(j)] + y[at(j)]; }));
  CHECK(elements<std::uint8_t>(less) == made<std::uint8_t>(n, [&](auto j) { return x[at(j)] < y[at(j)]; }));
  CHECK(elements<std::int64_t>(k) == made<std::int64_t>(n, [](auto j) { return 3 * j; }));
  CHECK(elements<double>(w) == made<double>(n, [&](auto j) { return double(x[at(j)]) * y[at(j)]; }));
}

template <class T>
void check_type(runtime::device_id d) {
  constexpr std::int64_t n = 517;
  const auto x = whole_numbers<T>(n, 11), y = whole_numbers<T>(n, 7, 2);
  const dtype t = dtype_for<T>();
  const auto* f = function("typed", {par("x", t), par("y", t)}, {par("z", t)}, "z = x * y + 1;");
  CHECK(elements<T>(call(f, {n}, {stored(x, d), stored(y, d)})) ==
        made<T>(n, [&](auto k) { return static_cast<T>(x[at(k)] * y[at(k)] + T(1)); }));
}
template <class C>
void check_complex(runtime::device_id d) {
  constexpr std::int64_t n = 517;
  using R = typename C::value_type;
  const auto parts = numbers<R>(4 * n);
  std::vector<C> x, y;
  for (std::int64_t k = 0; k < n; ++k) {
    x.emplace_back(parts[at(4 * k)], parts[at(4 * k + 1)]);
    y.emplace_back(parts[at(4 * k + 2)], parts[at(4 * k + 3)]);
  }
  const dtype t = dtype_for<C>();
  const auto* f =
      function("typed", {par("x", t), par("y", t)}, {par("z", t)}, "T w = x * y; w += T(1, 2); z = w - 3 * x;",
               {.types = t == dtype::c64 ? "typedef complex64 T;" : "typedef complex128 T;"});
  CHECK(elements<C>(call(f, {n}, {stored(x, d), stored(y, d)})) == [&] {
    std::vector<C> z;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const C a = x[k], b = y[k];
      const C w(a.real() * b.real() - a.imag() * b.imag() + 1, a.real() * b.imag() + a.imag() * b.real() + 2);
      z.emplace_back(w.real() - 3 * a.real(), w.imag() - 3 * a.imag());
    }
    return z;
  }());
}

inline void check_types(runtime::device_id d) {
  check_type<float>(d);
  check_type<double>(d);
  check_type<std::int8_t>(d);
  check_type<std::uint8_t>(d);
  check_type<std::int16_t>(d);
  check_type<std::int32_t>(d);
  check_type<std::int64_t>(d);
  check_complex<std::complex<float>>(d);
  check_complex<std::complex<double>>(d);

  constexpr std::int64_t n = 1001;
  const auto bits = whole_numbers<std::uint8_t>(n, 2), others = whole_numbers<std::uint8_t>(n, 2, 5);
  const auto* f =
      function("implied", {par("x", dtype::b1), par("y", dtype::b1)}, {par("z", dtype::b1)}, "z = !x || y;");
  CHECK(elements<std::uint8_t>(call(f, {n}, {stored_bool(bits, {n}, d), stored_bool(others, {n}, d)})) ==
        made<std::uint8_t>(n, [&](auto k) { return !bits[at(k)] || others[at(k)]; }));

  // Half types are float in the text, and are rounded once at the end.
  for (dtype t : {dtype::f16, dtype::bf16}) {
    value x = graph::record_cast(stored(numbers(n), d), t), y = graph::record_cast(stored(numbers(n, 3), d), t);
    const auto a = elements<float>(graph::record_cast(x, dtype::f32)),
               b = elements<float>(graph::record_cast(y, dtype::f32));
    const auto* g = function("halves", {par("x", t), par("y", t)}, {par("z", t)}, "z = x * x + y / 3;");
    const auto exact = made<float>(n, [&](auto k) { return a[at(k)] * a[at(k)] + b[at(k)] / 3; });
    const value rounded = graph::record_cast(stored(exact, d), t);
    const value z = call(g, {n}, {x, y});
    CHECK(elements<float>(graph::record_cast(z, dtype::f32)) ==
          elements<float>(graph::record_cast(rounded, dtype::f32)));
    CHECK(elements<std::uint16_t>(z) == elements<std::uint16_t>(rounded));
  }
}

inline void check_layouts(runtime::device_id d) {
  const std::int64_t a = 37, b = 53, c = 29;
  const auto x = numbers(a * b * c);
  const value base = stored(x, {a, b, c}, d);
  const auto* f = function("weighted", {par("x", dtype::f32), par("y", dtype::f32), par("i", dtype::i64)},
                           {par("z", dtype::f32)}, "z = 2 * x - y + i % 5;");
  // Transposed, reversed, broadcast along two axes.
  value turned = graph::record_view(base, {c, b, a}, {1, c, b * c}, 0);
  value reversed = graph::record_view(base, {c, b, a}, {-1, -c, -b * c}, a * b * c - 1);
  value column = graph::record_view(base, {c, b, a}, {1, 0, 0}, 3 * c);
  auto index = [&](std::int64_t k) { return (k % a) * b * c + (k / a % b) * c + k / (a * b); };
  auto expect = [&](auto second) {
    return made<float>(a * b * c, [&](auto k) { return 2 * x[at(index(k))] - second(k) + static_cast<float>(k % 5); });
  };
  const dims shape{c, b, a};
  CHECK(elements<float>(call(f, shape, {turned, reversed, position(shape, d)})) ==
        expect([&](auto k) { return x[at(a * b * c - 1 - index(k))]; }));
  CHECK(elements<float>(call(f, shape, {plus(turned, 0), column, position(shape, d)})) ==
        expect([&](auto k) { return x[at(3 * c + k / (a * b))]; }));
  CHECK(elements<float>(call(f, shape, {turned, number(4, dtype::f32, {}, d), position(shape, d)})) ==
        expect([](auto) { return 4.0f; }));
  // Views of the result.
  value z = call(f, shape, {turned, turned, position(shape, d)});
  value every = graph::record_view(z, {c / 2, a}, {-2 * a * b, 1}, (c - 1) * a * b + 7 * a);
  CHECK(elements<float>(every) == made<float>(c / 2 * a, [&](auto k) {
          const std::int64_t j = (c - 1) * a * b + 7 * a - 2 * a * b * (k / a) + k % a;
          return 2 * x[at(index(j))] - x[at(index(j))] + static_cast<float>(j % 5);
        }));
  // Operands of lower rank broadcast, and one element is an array too.
  value row = stored(numbers(a, 9), {a}, d), one = stored(std::vector<float>{3}, {1, 1}, d);
  const auto r = numbers(a, 9);
  CHECK(elements<float>(call(f, {b, a}, {row, one, position({b, a}, d)})) ==
        made<float>(b * a, [&](auto k) { return 2 * r[at(k % a)] - 3 + static_cast<float>(k % 5); }));
  CHECK(elements<float>(call(f, {}, {number(1, dtype::f32, {}, d), one, position({}, d)})) == std::vector<float>{-1});
  CHECK(elements<float>(call(f, {0, 3}, {stored(std::vector<float>{}, {0, 3}, d), one, position({0, 3}, d)})).empty());
  // Gathered.
  const auto at_row = whole_numbers<std::int64_t>(b * a, static_cast<int>(a), 4);
  value picked = graph::record_gather(call(f, {a}, {row, row, position({a}, d)}), stored(at_row, d), 0, {b * a});
  CHECK(elements<float>(picked) == made<float>(b * a, [&](auto k) {
          const std::int64_t j = at_row[at(k)];
          return 2 * r[at(j)] - r[at(j)] + static_cast<float>(j % 5);
        }));
}

// ---- arrays that are read by index

inline void check_raw_inputs(runtime::device_id d) {
  constexpr std::int64_t n = 2000, m = 77;
  const auto t = numbers(m), x = numbers(n);
  const auto k = whole_numbers<std::int64_t>(n, m);
  const auto* f = function("look_up", {par("x", dtype::f32), raw("t", dtype::f32), par("k", dtype::i64)},
                           {par("z", dtype::f32)}, "z = x + t[k] + t.size() + t.shape(0) + t.ndim;");
  const auto expected = made<float>(n, [&](auto j) { return x[at(j)] + (t[at(k[at(j)])] * 2 + 1) + 77 + 77 + 1; });
  value pending = plus(times(stored(t, d), 2), 1);
  CHECK(elements<float>(call(f, {n}, {stored(x, d), pending, stored(k, d)})) == expected);
  // A raw view is read in its own order.
  value reversed = graph::record_view(stored(t, d), {m}, {-1}, m - 1);
  const auto* g =
      function("straight", {raw("t", dtype::f32), par("i", dtype::i64)}, {par("z", dtype::f32)}, "z = t[i];");
  CHECK(elements<float>(call(g, {m}, {reversed, position({m}, d)})) ==
        made<float>(m, [&](auto j) { return t[at(m - 1 - j)]; }));

  const auto* h = function("stencil", {raw("u", dtype::f32, 2), par("i", dtype::i64)}, {par("z", dtype::f32)},
                           "long long r = i / u.shape(1), c = i % u.shape(1);"
                           "z = r == 0 || c == 0 || r == u.shape(0) - 1 || c == u.shape(1) - 1 ? u(r, c)"
                           "  : u(r - 1, c) + u(r + 1, c) + u(r, c - 1) + u(r, c + 1) - 4 * u[i];");
  const std::int64_t rows = 31, columns = 45;
  const auto u = numbers(rows * columns);
  value z = call(h, {rows, columns}, {stored(u, {rows, columns}, d), position({rows, columns}, d)});
  CHECK(elements<float>(plus(z, 1)) == made<float>(rows * columns, [&](auto i) {
          const std::int64_t r = i / columns, c = i % columns;
          if (r == 0 || c == 0 || r == rows - 1 || c == columns - 1) return u[at(i)] + 1;
          return u[at(i - columns)] + u[at(i + columns)] + u[at(i - 1)] + u[at(i + 1)] - 4 * u[at(i)] + 1;
        }));

  // All kinds of elements, through one function that adds up.
  value half = graph::record_cast(stored(t, d), dtype::f16), brain = graph::record_cast(stored(t, d), dtype::bf16);
  const auto flags = whole_numbers<std::uint8_t>(m, 2);
  std::vector<std::complex<double>> z128;
  for (float v : t) z128.emplace_back(v, 2 * v);
  const auto* all = function("kinds",
                             {raw("h", dtype::f16), raw("w", dtype::bf16), raw("b", dtype::b1), raw("c", dtype::c128),
                              raw("s", dtype::f64, 0), par("i", dtype::i64)},
                             {par("z", dtype::f64)}, "z = h[i] + w[i] + (b[i] ? 100 : 0) + c[i].imag() + s();");
  value sum = call(all, {m},
                   {half, brain, stored_bool(flags, {m}, d), stored(z128, d), stored(std::vector<double>{0.5}, {}, d),
                    position({m}, d)});
  const auto as_brain = elements<float>(graph::record_cast(brain, dtype::f32));
  CHECK(elements<double>(sum) == made<double>(m, [&](auto i) {
          const float halves = t[at(i)] + as_brain[at(i)];
          return double(halves + (flags[at(i)] ? 100 : 0)) + 2.0 * t[at(i)] + 0.5;
        }));
}

}  // namespace user_test
