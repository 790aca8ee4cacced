// Kernels over the same rows that are joined: their values have the bits of separate kernels, whatever the dtypes, the
// lengths of rows and the layouts, and they are joined where that saves memory traffic only.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graph/programs/joined_rows.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;
using namespace sinter::test::rows;

namespace {

const sn::reduce_kw rows{.axis = -1, .keepdims = true};

bool is_joined(const recorder& record) { return plan_of(record).find("[rows on chip]") != std::string::npos; }
ndarray noise(const sn::shape_t& shape, sn::dtype type) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v(static_cast<std::size_t>(n));
  std::uint32_t state = 99;
  for (double& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<double>(state >> 8) * 0x1p-22 - 2;
  }
  ndarray x = sn::array(v.data(), shape);
  if (!sn::is_inexact(type)) x = x * 20;
  x = x.astype(type);
  sn::eval(x);
  return x;
}

std::vector<ndarray> softmax(const ndarray& x) {
  const ndarray e = sn::exp(x - sn::max(x, rows));
  return {e / sn::sum(e, rows)};
}
std::vector<ndarray> softmax_and_max(const ndarray& x) {
  const ndarray m = sn::max(x, rows), e = sn::exp(x - m);
  return {e / sn::sum(e, rows), m, sn::argmax(x, -1)};
}
std::vector<ndarray> log_sum_exp(const ndarray& x) {
  const ndarray m = sn::max(x, rows);
  return {sn::log(sn::sum(sn::exp(x - m), rows)) + m};
}
std::vector<ndarray> standardised(const ndarray& x) {
  return {(x - sn::mean(x, rows)) / sinter::std(x, {.axis = -1, .keepdims = true})};
}
std::vector<ndarray> moments(const ndarray& x) {
  const ndarray d = x - sn::mean(x, rows), d2 = d * d;
  const sn::reduce_kw last{.axis = -1};
  const ndarray m2 = sn::mean(d2, last);
  return {m2, sn::mean(d2 * d, last) / m2, sn::mean(d2 * d2, last), sn::sqrt(m2)};
}
std::vector<ndarray> normalised(const ndarray& x) { return {x / sn::sqrt(sn::sum(x * x, rows))}; }

struct named {
  const char* name;
  std::vector<ndarray> (*of)(const ndarray&);
};
const named programs[] = {{"softmax", softmax},         {"softmax and max", softmax_and_max},
                          {"log sum exp", log_sum_exp}, {"standardised", standardised},
                          {"centred moments", moments}, {"normalised", normalised}};

}  // namespace

TEST_CASE("joined rows: the bits of separate kernels, for rows of any length") {
  for (const std::int64_t n :
       {2, 3, 5, 8, 31, 64, 65, 100, 127, 128, 257, 1000, 1024, 2049, 4097, 5000, 16384, 20001, 70000}) {
    CAPTURE(n);
    const ndarray x = noise({std::max<std::int64_t>(33, 12000 / n), n}, sn::float32);
    for (const named& p : programs) {
      CAPTURE(p.name);
      check_bits([&] { return p.of(x); });
    }
  }
}

TEST_CASE("joined rows: the bits of separate kernels, for every dtype") {
  for (const sn::dtype type :
       {sn::bool_, sn::int8, sn::uint8, sn::int16, sn::uint16, sn::int32, sn::uint32, sn::int64, sn::uint64,
        sn::float16, sn::bfloat16, sn::float32, sn::float64, sn::complex64, sn::complex128}) {
    CAPTURE(sn::name(type));
    const ndarray x = noise({40, 331}, type);
    for (const named& p : programs) {
      if (type == sn::bool_) continue;
      CAPTURE(p.name);
      check_bits([&] { return p.of(x); });
    }
    check_bits([&]() -> std::vector<ndarray> {
      const ndarray n = sn::sum(x != 0, rows);
      return {x * n, sn::any(x > n, -1), n, sn::count_nonzero(x != n, -1)};
    });
  }
}

TEST_CASE("joined rows are one kernel, which reads them once") {
  const ndarray x = noise({200, 512}, sn::float32), gain = noise({512}, sn::float32), bias = noise({512}, sn::float32);
  for (const named& p : programs) {
    CAPTURE(p.name);
    const std::string plan = plan_of([&] { return p.of(x); });
    CAPTURE(plan);
    CHECK(plan.find("[rows on chip]") != std::string::npos);
    CHECK(plan.find("[reduction]") == std::string::npos);
    CHECK(plan.find("[elementwise]") == std::string::npos);
  }
  const recorder layer_norm = [&]() -> std::vector<ndarray> {
    const ndarray d = x - sn::mean(x, rows);
    return {d / sn::sqrt(sn::mean(d * d, rows) + 1e-5) * gain + bias};
  };
  const std::string plan = plan_of(layer_norm);
  CAPTURE(plan);
  CHECK(plan.find("\n1 kernels") != std::string::npos);
  CHECK(plan.find("kept on chip") != std::string::npos);
  check_bits(layer_norm);
}

TEST_CASE("joined rows: operands that broadcast, are strided or lie across") {
  const ndarray big = noise({2, 80, 3, 260}, sn::float32), column = noise({80, 1}, sn::float32),
                line = noise({130}, sn::float32);
  const auto layer = [&](const ndarray& x, const ndarray& gain, const ndarray& bias) -> std::vector<ndarray> {
    const ndarray d = x - sn::mean(x, rows);
    return {d / sn::sqrt(sn::var(x, {.axis = -1, .keepdims = true}) + 1e-5) * gain + bias, sn::max(x, -1)};
  };
  const ndarray strided = big(1, _, 2, slice(_, _, 2)), turned = noise({130, 80}, sn::float32).T();
  const ndarray backward = strided["::-1, ::-1"];
  const ndarray third = strided(slice(_, _, 3)), same = sn::broadcast_to(line, {80, 130});
  for (const ndarray& x : {strided, turned, backward, third, same}) {
    const ndarray c = column(slice(0, x.shape()[0]));
    check_bits([&] { return layer(x, line, line(slice(_, _, -1))); });
    check_bits([&] { return layer(x, c, line); });
    check_bits([&] { return layer(x * c, line, x); });
  }
  // Several kept and several reduced axes, which do not merge.
  const ndarray pairs = sn::transpose(big, {1, 0, 3, 2}), ends = sn::transpose(big, {3, 1, 2, 0});
  for (const ndarray& x : {big, pairs, ends}) {
    check_bits([&] { return layer(x, x, 2 * x); });
    check_bits([&]() -> std::vector<ndarray> {
      const ndarray d = x - sn::mean(x, {.axis = {-1, -2}, .keepdims = true});
      return {d / sn::sqrt(sn::mean(d * d, {.axis = {-1, -2}, .keepdims = true})) *
              sn::mean(x, {.axis = 0, .keepdims = true})};
    });
    check_bits([&]() -> std::vector<ndarray> {
      const ndarray d = x - sn::mean(x, {.axis = {1, 2}, .keepdims = true});
      return {d * sn::max(d, {.axis = {1, 2}, .keepdims = true})};
    });
  }
}

TEST_CASE("joined rows: columns, squares and statistics of other axes") {
  const ndarray x = noise({150, 150}, sn::float32);
  for (const int first : {0, 1})
    for (const int second : {0, 1}) {
      CAPTURE(first);
      CAPTURE(second);
      check_bits([&]() -> std::vector<ndarray> {
        const ndarray m = sn::sum(x, {.axis = first, .keepdims = true});
        const ndarray d = x - m;
        return {d / sn::sum(d * d, {.axis = second, .keepdims = true}), m};
      });
      check_bits([&]() -> std::vector<ndarray> {
        const ndarray m = sn::sum(x, first);  // a row of results, which broadcasts along the columns
        return {x - m, sn::sum((x - m) * x, second)};
      });
    }
  check_bits([&]() -> std::vector<ndarray> {  // a matrix of the rows' results
    const ndarray m = sn::max(x, -1);
    return {sn::sum(x * (m(_, newaxis) - m), -1)};
  });
}

TEST_CASE("joined rows: NaN, infinities, and constants") {
  ndarray x = noise({64, 300}, sn::float32).copy();
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  x(0, 5) = inf;
  x(1, 299) = nan;
  x(2) = -inf;
  x(3) = 0.0F;
  x(4) = -0.0F;
  x(5, slice(0, 10)) = inf;
  x(6, 7) = -nan;
  sn::eval(x);
  for (const named& p : programs) {
    CAPTURE(p.name);
    check_bits([&] { return p.of(x); });
  }
}

TEST_CASE("joined rows: empty ones, rows of one element, one row, scalars") {
  for (const sn::shape_t& shape :
       std::vector<sn::shape_t>{{0, 5}, {40000, 1}, {1, 9000}, {1, 70000}, {12000}, {3, 0, 4}, {100, 1, 100}}) {
    const ndarray x = noise(shape, sn::float32);
    for (const named& p : programs) {
      CAPTURE(p.name);
      if (x.size() != 0) check_bits([&] { return p.of(x); });
    }
    check_bits([&]() -> std::vector<ndarray> { return {x - sn::sum(x, rows), x / sn::sum(x)}; });
  }
  const ndarray none = noise({5, 0}, sn::float32);
  check_bits([&]() -> std::vector<ndarray> { return {none - sn::sum(none, rows), sn::sum(none, rows) + 1}; });
}

TEST_CASE("joined rows: values between the stages that are results too") {
  const ndarray x = noise({90, 400}, sn::float32), y = noise({90, 400}, sn::float32);
  check_bits([&]() -> std::vector<ndarray> {
    const ndarray h = x + y, d = h - sn::mean(h, rows), v = sn::mean(d * d, rows), n = d / sn::sqrt(v);
    return {h, d, v, n, sn::sum(n * n, -1), sn::max(n * y, rows) + v};
  });
  check_bits([&]() -> std::vector<ndarray> {  // what later stages read elsewhere
    const ndarray e = sn::exp(x - sn::max(x, rows)), s = e / sn::sum(e, rows);
    return {s, s.T().copy(), sn::sum(s, 0), sn::roll(s, 1, 1) * s};
  });
  check_bits([&]() -> std::vector<ndarray> {  // a chain of many stages
    ndarray z = x;
    std::vector<ndarray> all;
    for (int k = 0; k < 6; ++k) {
      z = z - sn::max(z * y, rows);
      z = z / sn::sqrt(sn::sum(z * z, rows));
      all.push_back(sn::min(z, -1));
    }
    all.push_back(z);
    return all;
  });
}

TEST_CASE("joined rows: what only they read is not stored") {
  const ndarray x = noise({90, 400}, sn::float32), gain = noise({90, 1}, sn::float32);
  const recorder norms[] = {[&]() -> std::vector<ndarray> {
                              const ndarray d = x - sn::mean(x, rows);
                              return {d / sn::sqrt(sn::mean(d * d, rows) + 1e-5)};
                            },
                            [&]() -> std::vector<ndarray> {  // read through views
                              const ndarray m = sn::reshape(sn::mean(x, -1), {90, 1}) * gain, d = x - m;
                              return {d * sn::reshape(sn::reshape(sn::max(d, -1), {9, 10}), {90, 1})};
                            },
                            [&]() -> std::vector<ndarray> {  // an expensive value that two stages read
                              const ndarray e = sn::special::erf(x - sn::max(x, rows));
                              return {e / sn::sum(e, rows)};
                            }};
  for (const recorder& norm : norms) {
    const std::string plan = plan_of(norm);
    CAPTURE(plan);
    CHECK(plan.find("\n  writes (") == plan.rfind("\n  writes ("));
    check_bits(norm);
  }
}

TEST_CASE("joined rows: draws, gathers, checks and coordinates keep kernels of their own or their values") {
  const ndarray x = noise({90, 400}, sn::float32);
  const ndarray which = sn::arange(0, 400, 1) * 7 % 400;
  sn::eval(which);
  check_bits([&]() -> std::vector<ndarray> {
    const ndarray t = sn::take(x, which, 1);
    return {(t - sn::max(t, rows)) * sn::arange(0, 400, 1, {.dtype = sn::float32})};
  });
  check_bits([&]() -> std::vector<ndarray> {
    const ndarray i = x.astype(sn::int32), m = sn::max(i, rows);
    return {sn::power(i - m, 2), sn::floor_divide(i, m), sn::power(m, sn::sum(i, rows) % 3 + 3)};
  });
  check_bits([&]() -> std::vector<ndarray> {
    const ndarray p = softmax(x)[0];
    sn::random::generator g(5);
    return {p * (g.random({90, 400}) < 0.5)};
  });
}

TEST_CASE("joined rows: masks and values by position, over one and several axes of rows and of elements") {
  for (const auto& size : {std::pair<std::int64_t, std::int64_t>{2000, 300}, {33, 9000}, {40, 20001}, {12000, 7}}) {
    const std::int64_t n = size.first, m = size.second;
    CAPTURE(n);
    CAPTURE(m);
    const ndarray x = noise({n, m}, sn::float32), i = sn::arange(n), j = sn::arange(m);
    const recorder masked = [&]() -> std::vector<ndarray> {
      const ndarray y = sn::where(i(_, newaxis) >= j, x, -1e30f), e = sn::exp(y - sn::max(y, rows));
      return {e / sn::sum(e, rows)};
    };
    if (m < 10000) CHECK(is_joined(masked));  // longer rows have no room on a GPU
    check_bits(masked);
    check_bits([&]() -> std::vector<ndarray> {  // positions in the results, in rows' values and in elements
      const ndarray m0 = sn::max(x + j, rows) + i(_, newaxis).astype(sn::float32);
      return {sn::exp(x - m0) * j.astype(sn::float32) + i(_, newaxis), m0};
    });
  }
  const ndarray x = noise({30, 50, 20, 40}, sn::float32);
  const auto at = [](int axis) {
    std::vector<std::int64_t> shape{1, 1, 1, 1};
    const std::int64_t extents[] = {30, 50, 20, 40};
    shape[static_cast<std::size_t>(axis)] = extents[axis];
    return sn::reshape(sn::arange(extents[axis]), shape);
  };
  for (const sn::axes& over : {sn::axes{3}, sn::axes{2, 3}, sn::axes{1, 2, 3}})
    for (int first = 0; first < 4; ++first)
      check_bits([&]() -> std::vector<ndarray> {
        const ndarray y = sn::where(at(first) % 3 == at((first + 1) % 4) % 2, x, x * 0.5f);
        const sn::reduce_kw kept{.axis = over, .keepdims = true};
        const ndarray e = sn::exp(y - sn::max(y, kept));
        return {e / sn::sum(e, kept) + at(first).astype(sn::float32)};
      });
}

TEST_CASE("joined rows: kernels that share nothing, or wait for others, are not joined wrongly") {
  const ndarray x = noise({100, 200}, sn::float32), y = noise({100, 200}, sn::float32);
  CHECK_FALSE(is_joined([&]() -> std::vector<ndarray> { return {y * sn::sum(x, rows)}; }));
  CHECK(is_joined([&]() -> std::vector<ndarray> { return {y * x * sn::sum(x, rows)}; }));
  check_bits([&]() -> std::vector<ndarray> {  // through a kernel over another space, which waits for the first
    const ndarray m = sn::max(x, rows), c = sn::sum(x - m, {.axis = 0, .keepdims = true});
    const ndarray d = (x - m) * c;
    return {d, d / sn::sum(d, rows), sn::sum(x * c, -1)};
  });
  check_bits([&]() -> std::vector<ndarray> {
    const ndarray m = sn::max(x, rows), q = sn::cumsum(m, 0);
    return {x - m, (x - m) * q, sn::sum((x - q) * y, -1)};
  });
  ndarray z = x.copy();
  const ndarray m = sn::mean(z, rows);
  z(slice(10, 20)) = m(slice(10, 20)) * 2;
  z -= m;
  const ndarray s = z / sn::sum(z * z, rows);
  z += 1;
  sn::eval(s, z, m);
  const ndarray expected = sn::mean(x, rows);
  CHECK((bytes_of(m) == bytes_of(expected)));
}

TEST_CASE("joined rows: an allocation that fails leaves everything pending") {
  const staging all_sizes;
  const ndarray x = noise({100, 200}, sn::float32);
  for (int k = 0; k < 3; ++k) {
    std::vector<ndarray> all = softmax_and_max(x);
    {
      const restore_limits limits;
      sinter::graph::limits().fail_allocation = k;
      CHECK_THROWS_AS(evaluate(all), sn::memory_error);
    }
    const std::vector<ndarray> expected = evaluated([&] { return softmax_and_max(x); }, false);
    for (std::size_t n = 0; n < all.size(); ++n) CHECK((bytes_of(all[n]) == bytes_of(expected[n])));
  }
}

TEST_CASE("on the CPU short work is joined where separate kernels would compute exponentials twice") {
  const ndarray x =
      sn::reshape(sn::arange(1000 * 250, {.dtype = sn::float64, .device = sn::v0::cpu}) / 250000.0, {1000, 250});
  sn::eval(x);
  const auto kernels = [](const ndarray& r) {
    const std::string text = sn::explain(r);
    std::size_t count = 0;
    for (std::size_t at = text.find("kernel "); at != std::string::npos; at = text.find("kernel ", at + 1))
      count += text.compare(at + 8, 1, ":") == 0;
    return count;
  };
  const ndarray softmax = sn::special::softmax(x, 1), scaled = x / sn::sum(x, rows);
  CHECK(kernels(softmax) == 1);  // 6 MB with the exponentials
  CHECK(kernels(scaled) == 2);   // whose steps are cheap
  CHECK(kernels(sn::special::softmax(x(slice(0, 20)), 1)) > 1);
}

TEST_CASE("on the CPU few long rows are joined where they fit a cache and save something costly, with the same bits") {
  const auto on_host = [](const sn::shape_t& shape, sn::dtype type) {
    std::int64_t n = 1;
    for (const std::int64_t e : shape) n *= e;
    const ndarray x = sn::sin(sn::arange(0, n, 1, {.dtype = sn::float64, .device = sn::v0::cpu})).astype(type);
    sn::eval(x);
    return sn::reshape(x, shape);
  };
  for (const sn::dtype type : {sn::float32, sn::float64})
    for (const ndarray& x : {on_host({70001}, type), on_host({3, 40007}, type), on_host({2, 5, 9001}, type)}) {
      const auto whole = [&]() -> std::vector<ndarray> {  // two costly values are kept, of which one is a result
        const ndarray m = sn::max(x, rows), e = sn::exp(x - m),
                      l = sn::log1p(e * e + sn::arange(0, x.shape(-1), 1, {.device = sn::v0::cpu}));
        const ndarray s = sn::sum(e, rows), t = sn::max(l, rows);
        return {e / s, l - t, e / s + l * t, sn::special::log_softmax(x, -1), sn::sin(m)};
      };
      CHECK(is_joined([&]() -> std::vector<ndarray> { return {sn::special::softmax(x, -1)}; }));
      check_bits([&]() -> std::vector<ndarray> { return {sn::special::softmax(x, -1), sn::special::softmax(x)}; });
      check_bits(whole);
    }
  const ndarray x = on_host({2, 50000}, sn::float64), large = on_host({3, 1 << 21}, sn::float64);
  CHECK_FALSE(is_joined([&]() -> std::vector<ndarray> { return {x / sn::sum(x, rows)}; }));  // costs nothing twice
  CHECK_FALSE(is_joined([&]() -> std::vector<ndarray> { return {sn::special::softmax(large, -1)}; }));  // 50 MB alone
}

TEST_CASE(
    "joined rows: memory of a result holds what is passed on, unless something else is read from it or lies in it") {
  for (const sn::dtype type : {sn::float32, sn::float64, sn::float16})
    for (const sn::shape_t& shape : {sn::shape_t{40, 1000}, sn::shape_t{3, 50000}, sn::shape_t{5, 7, 130}}) {
      CAPTURE(sn::name(type));
      CAPTURE(sn::to_string(shape));
      const ndarray x = noise(shape, type);
      const auto there = [&] {
        const ndarray y = x.copy() + 0;
        sn::eval(y);
        return y;
      };
      const auto doubled = [&] {
        sn::shape_t wide = shape;
        std::vector<std::int64_t> extents(wide.begin(), wide.end());
        extents.back() *= 2;
        const ndarray w = sn::zeros(sn::shape_t(extents), type);
        sn::eval(w);
        return w;
      };
      check_bits([&]() -> std::vector<ndarray> {  // in place
        const ndarray y = there();
        y(ellipsis) = softmax(y)[0];
        return {y};
      });
      check_bits([&]() -> std::vector<ndarray> {  // what is overwritten is read at the end as well
        const ndarray y = there();
        y(ellipsis) = softmax(y)[0] + y;
        return {y};
      });
      check_bits([&]() -> std::vector<ndarray> {  // what is passed on is a result, too
        const ndarray e = sn::exp(x - sn::max(x, rows));
        return {e / sn::sum(e, rows), e, e + x};
      });
      check_bits([&]() -> std::vector<ndarray> {  // two values are passed on, and read in other results' steps
        const ndarray d = x - sn::max(x, rows), e = sn::exp(d), f = sn::sin(d) + 2;
        const ndarray of_e = sn::sum(e, rows), of_f = sn::sum(f * e, rows);
        return {e / of_f, f / of_e, sn::sum(sn::exp(e / of_e), rows)};
      });
      check_bits([&]() -> std::vector<ndarray> {  // two values are passed on to one result
        const ndarray d = x - sn::max(x, rows), e = sn::exp(d), f = sn::sin(d) + 2;
        return {e / sn::sum(f * e, rows) + f / sn::sum(e, rows)};
      });
      check_bits([&]() -> std::vector<ndarray> {  // results with gaps and backwards
        const ndarray w = doubled(), v = there();
        w(ellipsis, slice(_, _, 2)) = softmax(x)[0];
        v(ellipsis, slice(_, _, -1)) = softmax(x)[0];
        return {w, v};
      });
      check_bits([&]() -> std::vector<ndarray> {  // written over its own reverse
        const ndarray y = there();
        y(ellipsis) = softmax(y(ellipsis, slice(_, _, -1)))[0];
        return {y};
      });
    }
}
