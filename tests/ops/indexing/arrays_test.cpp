// Indexing by arrays and masks: spellings, errors, what is recorded and what runs, hazards of reading and writing at
// once.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using integers = std::vector<std::int64_t>;

integers values(const ndarray& x) { return x.to_vector<std::int64_t>(); }
ndarray counting(const shape_t& shape) {
  std::int64_t n = 1;
  for (const auto e : shape) n *= e;
  return reshape(arange(n), shape);
}
std::uint64_t launches() { return runtime::get_backend(runtime::default_device()).statistics().launches; }

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool host_addressable(const ndarray& x) { return x.device().kind == device_kind::cpu; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("arrays, lists and vectors are indices in brackets and parentheses") {
  const ndarray x = counting({4, 3}), at = array({3, 0, -1});
  CHECK(values(x[at]) == integers{9, 10, 11, 0, 1, 2, 9, 10, 11});
  CHECK(values(x(at)) == values(x[at]));
  CHECK(values(x(list{3, 0, -1})) == values(x[at]));
  CHECK(values(x[list(std::vector<int>{3, 0, -1})]) == values(x[at]));
  CHECK(values(x(_, list{2, 0})) == integers{2, 0, 5, 3, 8, 6, 11, 9});
  CHECK(values(x(list{0, 1}, list{1, 2})) == integers{1, 5});
  CHECK(values(x(list{{0, 1}, {2, 3}}, 0)) == integers{0, 3, 6, 9});
  CHECK(x(list{{0, 1}, {2, 3}}, 0).shape() == shape_t{2, 2});
  CHECK(values(x(list{true, false, false, true}, 1)) == integers{1, 10});
  CHECK(x(list{}).shape() == shape_t{0, 3});
  CHECK(values(x[x > 8]) == integers{9, 10, 11});
  CHECK(values(x(x(_, 0) > 5, newaxis, 2)) == integers{8, 11});
  CHECK(values(x(nonzero(x % 5 == 0))) == integers{0, 5, 10});
  CHECK(values(x(ix_(list{0, 2}, list{2, 0}))) == integers{2, 0, 8, 6});
}

TEST_CASE("a mask of rank 0 adds an axis of extent 1 or 0") {
  const ndarray x = counting({2, 3});
  CHECK(x[array(true)].shape() == shape_t{1, 2, 3});
  CHECK(x[array(false)].shape() == shape_t{0, 2, 3});
  x[array(false)] = 9;
  CHECK(values(x) == integers{0, 1, 2, 3, 4, 5});
  x[array(true)] = 9;
  CHECK(values(x) == integers{9, 9, 9, 9, 9, 9});
  x(1, array(true), array(2)) += array({5});  // beside arrays of rank 0, too
  CHECK(values(x) == integers{9, 9, 9, 9, 9, 14});
  add_at(x(array(true), _, array({0, 0})), 1);
  CHECK(values(x) == integers{11, 9, 9, 11, 9, 14});
}

TEST_CASE("shapes that do not fit are named") {
  const ndarray x = counting({4, 5}), three = array({true, true, true, false});
  CHECK(has(message_of<index_error>([&] {
              x(array({0, 1}), array({0, 1, 2}));
            }),
            "index arrays could not be broadcast together with shapes (2,) (3,)"));
  CHECK(has(message_of<index_error>([&] {
              values(x(three, array({0, 1})));
            }),
            "index arrays could not be broadcast together with shapes (3,) (2,)"));
  CHECK(has(message_of<shape_error>([&] { x(three, 0) = ones({2}); }),
            "[assign] shape mismatch: values of shape (2,) could not be broadcast to the selection's shape (3,)"));
  CHECK(has(message_of<shape_error>([&] { x[array({0, 1})] *= counting({3, 5}); }), "(3, 5)"));
  CHECK(has(message_of<shape_error>([&] { add_at(x(three, array(0)), ones({4}, int64)); }), "(4,)"));
  CHECK(has(message_of<index_error>([&] { x[array({true, false})]; }), "a mask of shape (2,) does not fit axis 0"));
  CHECK(values(x) == values(counting({4, 5})));
}

TEST_CASE("arrays whose address is out are written in place") {
  const ndarray x = counting({6}).astype(float32);
  const float* const p = x.data<float>();
  const auto now = [&] {
    synchronize(x.device());
    return host_addressable(x) ? std::vector<float>(p, p + 6) : x.to_vector<float>();
  };
  x[array({1, 3})] = 9;
  x[x > 4] = -1;
  CHECK(now() == std::vector<float>{0, -1, 2, -1, 4, -1});
  x[array({0, 0})] += 5;
  add_at(x, array({2, 2}), 1.0f);
  const auto even = x(slice(_, _, 2));
  even[array({0, 2})] = 100;
  even[even > 50] *= 2;
  CHECK(now() == std::vector<float>{200, -1, 4, -1, 200, -1});
}

TEST_CASE("an index out of range is named with its axis and extent; nothing is written") {
  const ndarray x = counting({4, 3});
  const auto reading = message_of<index_error>([&] { values(x(_, array({0, 3, 1}))); });
  CHECK_MESSAGE(has(reading, "index 3 is out of range for axis 1 with extent 3"), reading);
  const auto negative = message_of<index_error>([&] { values(x(array({0, -5}), array({0, 1})) + 1); });
  CHECK_MESSAGE(has(negative, "index -5 is out of range for axis 0 with extent 4"), negative);
  const auto far = message_of<index_error>([&] { values(x[array({std::int64_t{1} << 40})]); });
  CHECK_MESSAGE(has(far, "index 1099511627776 is out of range for axis 0 with extent 4"), far);
  CHECK(values(x(0)) == integers{0, 1, 2});  // reported once
  const auto writing = message_of<index_error>([&] {
    x(array({0, 7, 1})) = 5;
    values(x);
  });
  CHECK_MESSAGE(has(writing, "index 7 is out of range for axis 0 with extent 4"), writing);
  CHECK(values(x) == values(counting({4, 3})));
  const auto adding = message_of<index_error>([&] {
    add_at(x, array({0, 4}), 1);
    values(x);
  });
  CHECK_MESSAGE(has(adding, "index 4 is out of range for axis 0 with extent 4"), adding);
  CHECK(values(x) == values(counting({4, 3})));
}

TEST_CASE("what is known on the host is refused at once") {
  const ndarray x = counting({4, 3});
  CHECK(has(message_of<index_error>([&] { x(_, list{0, 3}); }), "index 3 is out of range for axis 1 with extent 3"));
  CHECK_THROWS_AS(x(list{0, 1}, list{0, 1, 2}), index_error);
  CHECK_THROWS_AS(x(array({true, false})), index_error);                // extents of a mask
  CHECK_THROWS_AS(x(array({0}), array({0}), array({0})), index_error);  // too many
  CHECK_THROWS_AS(x(ones({4, 3, 1}, bool_)), index_error);
  CHECK_THROWS_AS(x[array({0.5})], dtype_error);
  CHECK_THROWS_AS(zeros({0, 3})[array({0})], index_error);
  CHECK_THROWS_AS((list{{0, 1}, {2}}), shape_error);
  CHECK_THROWS_AS((list{0.5}), dtype_error);
  CHECK_THROWS_AS((list{true, 1}), dtype_error);
  CHECK_THROWS_AS(x[array({0, 1})] = ones({5}), shape_error);
  CHECK_THROWS_AS(x[x > 3] = ones({5}), shape_error);
  CHECK_THROWS_AS(broadcast_to(x, {2, 4, 3})[array({0})] = 1, value_error);
  CHECK_THROWS_AS(x[array({0, 1})] += 0.5, dtype_error);
  CHECK_THROWS_AS(nonzero(array(1)), value_error);
  CHECK_THROWS_AS(unravel_index(array({0, 12}), {4, 3}), index_error);
  CHECK_THROWS_AS(take(x, array({0}), 0, {.mode = "around"}), value_error);
  CHECK_THROWS_AS(scatter_max(zeros({3}, complex64), array({0}), 1), dtype_error);
  CHECK(values(x) == values(counting({4, 3})));
}

TEST_CASE("a name keeps what it selected; only a temporary writes through") {
  ndarray x = counting({5});
  auto picked = x[array({1, 3})], masked = x[x > 2];
  x(_) = 7;
  CHECK(values(picked) == integers{1, 3});
  CHECK(values(masked) == integers{3, 4});
  picked += 10;  // its own elements
  CHECK(values(picked) == integers{11, 13});
  CHECK(values(x) == integers{7, 7, 7, 7, 7});
  auto again = x[array({0})];
  again = ones({2});
  CHECK(values(x) == integers{7, 7, 7, 7, 7});
}

TEST_CASE("of equal indices the last one wins, adding in place adds once, add_at each time") {
  const ndarray at = array({2, 0, 2, 2, 0});
  const ndarray x = zeros({4}, int64);
  x[at] = arange(1, 6);
  CHECK(values(x) == integers{5, 0, 4, 0});
  x[at] += arange(1, 6);
  CHECK(values(x) == integers{10, 0, 8, 0});
  add_at(x, at, arange(1, 6));
  CHECK(values(x) == integers{17, 0, 16, 0});
  scatter_add(x(at), 1);
  CHECK(values(x) == integers{19, 0, 19, 0});
  scatter_max(x, at, array({30, 5, 40, 20, 6}));
  scatter_min(x, list{1, 1}, array({-3, -2}));
  CHECK(values(x) == integers{19, -3, 40, 0});
  const ndarray wide = zeros({100000}, int64);  // few indices into many elements
  wide[array({99999, 5, 99999})] = array({1, 2, 3});
  CHECK(values(wide(list{99999, 5, 0})) == integers{3, 2, 0});
  const ndarray bits = zeros({3}, bool_);
  add_at(bits, list{0, 0, 1}, array({true, false, false}));
  CHECK(values(bits) == integers{1, 0, 0});
}

TEST_CASE("right sides and indices are read before anything is written") {
  ndarray x = arange(6);
  x[array({0, 1, 2})] = x[array({2, 1, 0})];
  CHECK(values(x) == integers{2, 1, 0, 3, 4, 5});
  x[x] = x + 10;
  CHECK(values(x) == integers{10, 11, 12, 13, 14, 15});
  ndarray y = arange(6);
  y[y % 2 == 0] = y[y % 2 == 1];
  CHECK(values(y) == integers{1, 1, 3, 3, 5, 5});
  y[y > 2] = flip(y)[y > 2];
  CHECK(values(y) == integers{1, 1, 3, 3, 1, 1});
  ndarray z = arange(6);
  const ndarray before = z * 2;
  z(slice(_, _, 2))[array({0, 2})] = -1;
  CHECK(values(z) == integers{-1, 1, 2, 3, -1, 5});
  CHECK(values(before) == integers{0, 2, 4, 6, 8, 10});
}

TEST_CASE("masked assignment is one kernel without a list of indices") {
  ndarray x = counting({1000}).astype(float32), limit = ones({1000}, float32) * 500;
  eval(x, limit);
  auto before = launches();
  x[x > limit] = 0;
  x[x > 100] *= 2;
  eval(x);
  CHECK(launches() - before == 1);
  CHECK(float(x(100)) == 100);
  CHECK(float(x(101)) == 202);
  CHECK(float(x(600)) == 0);
  ndarray rows = counting({4, 3});
  eval(rows);
  before = launches();
  rows[array({true, false, true, false})] = array({7, 8, 9});
  eval(rows);
  CHECK(launches() - before == 1);
  CHECK(values(rows) == integers{7, 8, 9, 3, 4, 5, 7, 8, 9, 9, 10, 11});
}

TEST_CASE("gathers fuse into what reads them, and a pending array is computed at the indices only") {
  const ndarray a = counting({300, 1}), b = counting({1, 300}), i = array({5, 7}), j = array({11, 299});
  eval(a, b, i, j);
  const ndarray table = a * 1000 + b;  // not all of it is needed
  const auto before = launches();
  const ndarray picked = table(i, j) * 2 + 1;
  eval(picked);
  CHECK(launches() - before == 1);
  CHECK(values(picked) == integers{2 * 5011 + 1, 2 * 7299 + 1});
  const std::string plan = explain(table(i, j) + 1);
  CHECK_MESSAGE(!has(plan, "300, 300"), plan);
}

TEST_CASE("index arrays of every integer dtype are read where they lie") {
  const ndarray x = counting({5000}).astype(float32);
  eval(x);
  for (const dtype t : {int8, int16, int32, int64, uint8, uint32, uint64}) {
    const ndarray at = (counting({3000}) * 7 % 120).astype(t);
    eval(at);
    const auto before = launches();
    const ndarray taken = take(x, at), picked = x[at] * 2;
    eval(taken);
    eval(picked);
    CHECK(launches() - before == 2);
    const std::string plan = explain(take(x, at) + 0.5);
    CHECK_MESSAGE(has(plan, "1 kernels"), plan);
    CHECK(values(picked) == values(taken * 2));
    CHECK(values(taken)[17] == 17 * 7 % 120);
  }
}

TEST_CASE("many index arrays in one kernel") {
  const ndarray x = counting({2, 3, 2, 3, 2, 2}), zero = array({0, 1}), one = array({1, 0});
  const ndarray want = x(0, 1, 0, 1, 0, 1);
  const ndarray got = x(zero, one, zero, one, zero, one);
  CHECK(values(got)[0] == want.item<std::int64_t>());
  const ndarray pending = x + 1;
  CHECK(values(pending(zero, one, zero, one, zero, one))[0] == want.item<std::int64_t>() + 1);
  const ndarray y = counting({2, 2, 2, 2, 2, 2, 2, 2, 2, 2}), p = y + 0;  // more than one kernel takes
  CHECK(values(p(one, one, one, one, one, one, one, one, one, one)) == integers{1023, 0});
}

TEST_CASE("the code of docs/indexing.md") {
  namespace sn = sinter;
  sn::ndarray x = sn::reshape(sn::arange(12), {4, 3});
  sn::ndarray idx = sn::array({3, 0, -1});
  auto rows = x[idx];                       // shape (3, 3)
  auto columns = x(_, sn::list{2, 0});      // shape (4, 2)
  auto points = x(idx, sn::list{0, 1, 2});  // shape (3,): x(3, 0), x(0, 1), x(-1, 2)
  auto large = x[x > 8];                    // 9, 10, 11
  auto some = x(x(_, 0) > 5, slice(1, _));  // the rows whose first element is above 5
  auto block = x(sn::ix_(sn::list{0, 2}, sn::list{2, 0}));
  auto found = x(sn::nonzero(x % 5 == 0));  // 0, 5, 10
  std::vector<sn::index> key(static_cast<std::size_t>(x.ndim()), _);
  key[1] = sn::list{2, 0};  // or a number, a slice, newaxis, ellipsis, an array, a mask
  auto same = x[key];       // columns
  CHECK(array_equal(same, columns));
  CHECK(rows.shape() == shape_t{3, 3});
  CHECK(columns.shape() == shape_t{4, 2});
  CHECK(values(points) == integers{9, 1, 11});
  CHECK(values(large) == integers{9, 10, 11});
  CHECK(values(some) == integers{7, 8, 10, 11});
  CHECK(values(block) == integers{2, 0, 8, 6});
  CHECK(values(found) == integers{0, 5, 10});
  sn::ndarray y = sn::zeros({5}, sn::int64);
  y[sn::list{1, 3, 1}] = sn::array({10, 20, 30});  // of equal indices the last wins: 0 30 0 20 0
  CHECK(values(y) == integers{0, 30, 0, 20, 0});
  y[sn::list{0, 0}] += 1;            // adds once
  sn::add_at(y, sn::list{4, 4}, 1);  // adds twice
  y[y > 15] = 0;                     // 1 0 0 0 2
  CHECK(values(y) == integers{1, 0, 0, 0, 2});
  // Every line of code of the page is above, word for word.
  std::ifstream page(SINTER_SOURCE_DIR "/docs/indexing.md"),
      self(SINTER_TEST_SOURCE_DIR "/ops/indexing/arrays_test.cpp");
  std::stringstream text;
  text << self.rdbuf();
  bool code = false;
  int lines = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```", 0) == 0) {
      code = !code;
    } else if (code) {
      ++lines;
      CHECK_MESSAGE(has(text.str(), "  " + line + "\n"), line);
    }
  }
  CHECK(lines == 17);
}

TEST_CASE("deterministic addition equals addition in C order to the bit") {
  std::vector<float> v(1000);
  std::vector<std::int64_t> at(1000);
  std::vector<float> want(7, 0.0f);
  for (std::size_t k = 0; k < v.size(); ++k) {
    v[k] = 1.0f / static_cast<float>(k + 1);
    at[k] = static_cast<std::int64_t>(k * k % 7);
    want[static_cast<std::size_t>(at[k])] += v[k];
  }
  const ndarray x = zeros({7}, float32);
  add_at(x, array(at), array(v), {.deterministic = true});
  CHECK(x.to_vector<float>() == want);
}

namespace {

/// add_at of a list with repetitions, and the same additions in a loop.
template <class T>
void check_additions() {
  std::vector<T> want(11), v(700);
  std::vector<std::int64_t> at(v.size());
  for (std::size_t k = 0; k < want.size(); ++k) want[k] = static_cast<T>(k);
  const ndarray x = array(want), kept = x.copy(), seen = x(slice(0, 5));
  const std::vector<T> before = want;
  for (std::size_t k = 0; k < v.size(); ++k) {
    v[k] = std::is_floating_point_v<T> ? static_cast<T>(1.0 / static_cast<double>(k + 1)) : static_cast<T>(k * 37);
    at[k] = static_cast<std::int64_t>(k * k % 11) - (k % 3 == 0 ? 11 : 0);
    T& to = want[static_cast<std::size_t>(at[k] < 0 ? at[k] + 11 : at[k])];
    to = static_cast<T>(to + v[k]);
  }
  CAPTURE(name(x.dtype()));
  add_at(x, array(at), array(v), {.deterministic = true});
  CHECK(x.to_vector<T>() == want);
  CHECK(kept.to_vector<T>() == before);
  CHECK(seen.to_vector<T>() == std::vector<T>(want.begin(), want.begin() + 5));
}

}  // namespace

TEST_CASE("additions one after the other: types, indices from the end, what shares the memory") {
  check_additions<std::int8_t>();
  check_additions<std::uint16_t>();
  check_additions<std::int32_t>();
  check_additions<std::uint64_t>();
  check_additions<float>();
  check_additions<double>();
  const ndarray z = zeros({2}, complex64);
  add_at(z, array({1, 1}), array(std::vector<std::complex<float>>{{1, 2}, {3, -1}}));
  CHECK(z.to_vector<std::complex<float>>() == std::vector<std::complex<float>>{{0, 0}, {4, 1}});
}

TEST_CASE("additions to views that do not begin at the start, have gaps, or more than one axis") {
  const ndarray x = zeros({12});
  add_at(x(slice(3, 9)), array({0, 5, 0, -1}), array({1.0, 2.0, 4.0, 8.0}));
  CHECK(x.to_vector<double>() == std::vector<double>{0, 0, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0});
  const ndarray y = zeros({9});
  add_at(y(slice(0, 9, 2)), array({1, 4, 1}), 3);
  CHECK(y.to_vector<double>() == std::vector<double>{0, 0, 6, 0, 0, 0, 0, 0, 3});
  const ndarray r = zeros({5});
  add_at(r(slice(_, _, -1)), array({0, 1, 0}), array({1, 2, 4}));
  CHECK(r.to_vector<double>() == std::vector<double>{0, 0, 0, 2, 5});
  const ndarray m = zeros({3, 2});
  add_at(m, array({0, 2, 0}), array({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(m.to_vector<double>() == std::vector<double>{6, 8, 0, 0, 3, 4});
  add_at(m(0), array({1, 1}), array({1, 1}));
  CHECK(m.to_vector<double>() == std::vector<double>{6, 10, 0, 0, 3, 4});
  const ndarray t = zeros({3, 2});  // its first axis has elements side by side
  add_at(transpose(t), array({1, 1}), array({{1, 2, 3}, {4, 5, 6}}));
  CHECK(t.to_vector<double>() == std::vector<double>{0, 5, 0, 7, 0, 9});
}

TEST_CASE("additions of which one is out of range leave the array as it is") {
  for (const std::int64_t bad : {std::int64_t{4}, std::int64_t{-5}}) {
    const ndarray x = ones({4});
    CHECK_THROWS_AS((add_at(x, array(std::vector<std::int64_t>{0, bad, 1}), 1), x.to_vector<double>()), index_error);
  }
  const ndarray y = ones({4});
  add_at(y, array({3, -4}), 1);
  CHECK(y.to_vector<double>() == std::vector<double>{2, 1, 1, 2});
}

TEST_CASE("indices of narrow dtypes: those that may be out of range are checked, of the others all are right") {
  const auto all_of = [](dtype t, std::int64_t low, std::int64_t high) { return arange(low, high + 1).astype(t); };
  struct narrow {
    dtype type;
    std::int64_t low, high, enough;
  };
  for (const narrow& one : {narrow{uint8, 0, 255, 256}, narrow{int8, -128, 127, 128}, narrow{uint16, 0, 65535, 65536},
                            narrow{int16, -32768, 32767, 32768}}) {
    const std::int64_t low = one.low, enough = one.enough;
    CAPTURE(name(one.type));
    const ndarray index = all_of(one.type, low, one.high);
    for (const std::int64_t n : {enough, enough + 5}) {
      const ndarray x = arange(n) * 3,
                    expected = where(index.astype(int64) < 0, index.astype(int64) + n, index.astype(int64)) * 3;
      CHECK(array_equal(x(index), expected));
      CHECK(array_equal(take(x, index), expected));
      CHECK(array_equal(take_along_axis(x, index), expected));
      ndarray y = zeros({n}, {.dtype = int64});
      y(index) = 1;
      CHECK(sum(y).item<std::int64_t>() == (low < 0 ? std::min(n, 2 * enough) : enough));
    }
    // Interpreted code checks all indices, compiled code those that have to be.
    const cpu::tier before = cpu::get_tier();
    for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
      cpu::set_tier(t);
      const ndarray few = arange(enough - 1);
      CHECK_THROWS_AS(few(index).to_vector<std::int64_t>(), index_error);
      CHECK_THROWS_AS(take(few, index).to_vector<std::int64_t>(), index_error);
      CHECK_THROWS_AS(take_along_axis(few, index).to_vector<std::int64_t>(), index_error);
    }
    cpu::set_tier(before);
  }
  // A table of rows, and two narrow indices at once.
  const ndarray table = reshape(arange(256 * 3), {256, 3}), bytes = array({255, 0, 7}).astype(uint8);
  CHECK(values(table(bytes)) == integers{765, 766, 767, 0, 1, 2, 21, 22, 23});
  CHECK(values(table(bytes, array({2, 1, 0}).astype(uint8))) == integers{767, 1, 21});
  CHECK_THROWS_AS(values(table(bytes, array({2, 1, 3}).astype(uint8))), index_error);
}

TEST_CASE(
    "take reads indices of any rank and dtype where they lie; on a CPU those of rows that are computed are stored") {
  const ndarray line = arange(1000).astype(float32) / 3, table = line(slice(0, 960)).reshape({60, 16});
  const ndarray places = (arange(1200) * 7 % 900).astype(int32).reshape({30, 40}), bytes = places.astype(uint8);
  const ndarray rows = (arange(600) * 7 % 59).astype(int32).reshape({30, 20});
  eval(line, table, places, bytes);
  eval(rows);
  for (const ndarray& i : {places, bytes}) {
    CHECK(test::kernels_of(take(line, i) * 2) == 1);
    CHECK(array_equal(take(line, i) * 2, line(i) * 2));
  }
  for (const ndarray& i : {places + 200, -1 - places - 200, places(_, slice(0, 7)) + 200})
    CHECK_THROWS_AS(take(line, i).to_vector<float>(), index_error);
  CHECK_THROWS_AS(take(table, rows + 30, 0).to_vector<float>(), index_error);
  const bool stores = line.device().kind == device_kind::cpu;
  for (const ndarray& i : {rows, ndarray(rows(0)), rows + 1}) {
    const ndarray taken = take(table, i, 0);
    const bool many = taken.size() >= 4096;
    CHECK(test::contains(explain(taken), "indices of rows") == (stores && many));
    CHECK(array_equal(taken, table(i)));
  }
  const ndarray down = rows % 50 + 1, along = rows % 16, corners = table(down, along) + table(down, 15 - along);
  CHECK_FALSE(test::contains(explain(corners), "indices of rows"));  // an element of each row
  CHECK(test::kernels_of(corners) == 1);
  CHECK(array_equal(corners, take(line, down * 16 + along) + take(line, down * 16 + (15 - along))));
  const ndarray tall = tile(table, {5, 1});
  eval(tall);
  CHECK_FALSE(test::contains(explain(roll(tall, 3, 0)), "indices of rows"));  // indices that are coordinates
}
