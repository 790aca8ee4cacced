// Indexing by arrays and masks, and the functions beside it, against NumPy.
#include <doctest/doctest.h>

#include <deque>

#include "golden/golden.hpp"
#include "sinter/indexing.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

enum class access : std::uint8_t { read, assign, add, multiply, add_at, max_at, min_at, error };

/// A key and the arrays that it refers to.
struct array_key {
  std::deque<ndarray> arrays;
  std::vector<index> items;
  std::string text;
};

bound optional_bound(golden_file& f, bool given) { return given ? bound(f.varint()) : bound(none_t{0}); }

void read_key(golden_file& f, array_key& key) {
  const auto count = f.varint();
  for (std::int64_t k = 0; k < count; ++k) {
    key.text += k == 0 ? "[" : ", ";
    switch (f.u8()) {
      case 0: {
        const auto i = f.varint();
        key.items.emplace_back(i);
        key.text += std::to_string(i);
        break;
      }
      case 1: {
        const int given = f.u8();
        const bound start = optional_bound(f, given & 1), stop = optional_bound(f, given & 2);
        const bound step = optional_bound(f, given & 4);
        key.items.emplace_back(slice(start, stop, step));
        for (const bound& b : {start, stop, step}) key.text += (b.given ? std::to_string(b.value) : "") + ":";
        break;
      }
      case 2: key.items.emplace_back(newaxis_t{}), key.text += "None"; break;
      case 3: key.items.emplace_back(ellipsis_t{}), key.text += "..."; break;
      default: {
        const host_array a = f.array();
        key.text += show(a);
        key.arrays.push_back(upload(a));
        key.items.emplace_back(key.arrays.back());
      }
    }
  }
}

using making = ndarray (*)(const host_array&);
ndarray in_memory(const host_array& a) { return upload(a); }
ndarray pending(const host_array& a) {
  return where(ones(shape_t(a.shape), bool_), upload(a), zeros(shape_t(a.shape), a.type));
}
/// A view with gaps of something larger.
ndarray strided(const host_array& a) {
  std::vector<std::int64_t> wide = a.shape;
  wide.back() = 2 * wide.back() + 1;
  const ndarray x = ones(shape_t(wide), a.type);
  const ndarray view = x(ellipsis_t{}, slice(1, none_t{0}, 2));
  view(ellipsis_t{}) = upload(a);
  return view;
}

void write(const ndarray& base, const array_key& key, access kind, const ndarray& v) {
  switch (kind) {
    case access::assign: at(base, key.items) = v; break;
    case access::add: at(base, key.items) += v; break;
    case access::multiply: at(base, key.items) *= v; break;
    case access::add_at: add_at(at(base, key.items), v, {.deterministic = base.size() % 2 == 0}); break;
    case access::max_at: scatter_max(at(base, key.items), v); break;
    default: scatter_min(at(base, key.items), v);
  }
}

void check_all(making make, int salt) {
  golden_file f("advanced.bin");
  const sample part(4);
  for (int i = 0; i < f.cases(); ++i) {
    const auto kind = static_cast<access>(f.u8());
    const host_array base = f.array();
    array_key key;
    read_key(f, key);
    host_array v, expected;
    if (kind != access::read && kind != access::error) v = f.array();
    if (kind != access::error) expected = f.array();
    if (!part.takes(i / 40) || !this_shard().takes(part.place(i / 40)) || (salt > 0 && i % 3 != salt - 1)) continue;
    const std::string what = "case " + std::to_string(i) + ", kind " + std::to_string(static_cast<int>(kind)) + ", " +
                             show(base) + key.text + "], value " + (v.bytes.empty() ? "" : show(v));
    if (kind == access::error) {
      CHECK_THROWS_AS_MESSAGE(download(at(make(base), key.items)), error, what);
      continue;
    }
    std::string diff;
    try {
      const ndarray x = make(base);
      if (kind == access::read) {
        diff = difference(download(at(x, key.items)), expected, {});
      } else {
        const ndarray before = x + zeros({}, x.dtype());
        write(x, key, kind, upload(v));
        diff = difference(download(x), expected, {});
        if (diff.empty()) diff = difference(download(before), base, {});
      }
    } catch (const error& e) {
      diff = e.what();
    }
    CHECK_MESSAGE(diff.empty(), what, ": ", diff);
  }
  CHECK(f.at_end());
}

}  // namespace

TEST_CASE("indexing by arrays reads and writes what NumPy does, of an array in memory" *
          doctest::test_suite(sharded_suite)) {
  check_all(in_memory, 0);
}
TEST_CASE("indexing by arrays reads and writes what NumPy does, of a pending array" *
          doctest::test_suite(sharded_suite)) {
  check_all(pending, 1);
}
TEST_CASE("indexing by arrays reads and writes what NumPy does, of a view with gaps" *
          doctest::test_suite(sharded_suite)) {
  check_all(strided, 2);
}

namespace {

constexpr std::int64_t no_axis = 99;
optional_axis axis_of(std::int64_t a) {
  return a == no_axis ? optional_axis(none_t{0}) : optional_axis(static_cast<int>(a));
}

std::vector<ndarray> call(const std::string& name, const std::vector<ndarray>& a, const std::vector<std::int64_t>& n,
                          const std::string& mode) {
  const mode_kw kw{.mode = mode};
  const auto axis = [&] { return axis_of(n[0]); };
  if (name == "nonzero") return nonzero(a[0]);
  if (name == "argwhere") return {argwhere(a[0])};
  if (name == "flatnonzero") return {flatnonzero(a[0])};
  if (name == "extract") return {extract(a[0], a[1])};
  if (name == "take") return {take(a[0], a[1], axis(), kw)};
  if (name == "compress") return {compress(a[0], a[1], axis())};
  if (name == "choose") return {choose(a[0], std::vector<ndarray>(a.begin() + 1, a.end()), kw)};
  if (name == "unravel_index") return unravel_index(a[0], shape_t(n));
  if (name == "ravel_multi_index") return {ravel_multi_index(a, shape_t(n), {.mode = kw.mode})};
  if (name == "tril_indices") return tril_indices(n[0], n[1], n[2]);
  if (name == "triu_indices") return triu_indices(n[0], n[1], n[2]);
  if (name == "diag_indices") return diag_indices(n[0], static_cast<int>(n[1]));
  if (name == "ix_") return a.size() == 1 ? ix_(a[0]) : a.size() == 2 ? ix_(a[0], a[1]) : ix_(a[0], a[1], a[2]);
  const ndarray x = name == "put transposed" ? a[0].T() : a[0];
  if (name == "put" || name == "put transposed") put(x, a[1], a[2], kw);
  else if (name == "putmask") putmask(x, a[1], a[2]);
  else if (name == "place") place(x, a[1], a[2]);
  else if (name == "put_along_axis") put_along_axis(x, a[1], a[2], axis());
  else FAIL("unknown function ", name);
  return {x};
}

}  // namespace

TEST_CASE("functions of indices give what NumPy gives" * doctest::test_suite(sharded_suite)) {
  golden_file f("indexing_functions.bin");
  const auto arrays = [&f] {
    std::vector<host_array> list(static_cast<std::size_t>(f.varint()));
    for (host_array& a : list) a = f.array();
    return list;
  };
  for (int i = 0; i < f.cases(); ++i) {
    const std::string name = f.text();
    const auto given = arrays();
    const auto numbers = f.dims();
    const std::string mode = f.text();
    const auto expected = arrays();
    if (!this_shard().takes(i / 40)) continue;
    std::string what = "case " + std::to_string(i) + ": " + name + " " + mode + show_shape(numbers);
    for (const host_array& a : given) what += " " + show(a);
    std::string diff;
    try {
      std::vector<ndarray> in;
      for (const host_array& a : given) in.push_back(upload(a));
      const auto out = call(name, in, numbers, mode);
      if (out.size() != expected.size()) diff = "another number of results";
      for (std::size_t k = 0; k < out.size() && diff.empty(); ++k) diff = difference(download(out[k]), expected[k], {});
    } catch (const error& e) {
      diff = e.what();
    }
    CHECK_MESSAGE(diff.empty(), what, ": ", diff);
  }
  CHECK(f.at_end());
}
