// Basic indexing against NumPy: reading views, assigning and adding through them, keys that are errors.
#include <doctest/doctest.h>

#include "golden/batch.hpp"
#include "golden/golden.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

enum class access : std::uint8_t { read, assign, add, error };

ndarray counting(const std::vector<std::int64_t>& shape) {
  host_array a;
  a.type = int16;
  a.shape = shape;
  a.bytes.resize(static_cast<std::size_t>(a.size()) * 2);
  auto* out = reinterpret_cast<std::int16_t*>(a.bytes.data());
  for (std::int64_t i = 0; i < a.size(); ++i) out[i] = static_cast<std::int16_t>(i);
  return upload(a);
}

/// The same array as a recorded expression that nothing has evaluated.
ndarray counting_pending(const std::vector<std::int64_t>& shape) {
  return counting(shape) + zeros(shape_t(shape), int16);
}

void check_all(ndarray (*make)(const std::vector<std::int64_t>&)) {
  golden_file f("indexing.bin");
  batch cases;
  for (int i = 0; i < f.cases(); ++i) {
    const auto kind = static_cast<access>(f.u8());
    const auto shape = f.dims();
    const auto key = f.key();
    const std::string what = "case " + std::to_string(i) + ", shape " + show_shape(shape) + ", key " + to_string(key);
    const bool mine = this_shard().takes(i / 40);
    if (kind == access::error) {
      if (mine) CHECK_THROWS_AS_MESSAGE(at(make(shape), key), error, what);
      continue;
    }
    const auto first = f.array();
    const auto expected = kind == access::read ? first : f.array();
    if (!mine) continue;
    const auto record = [=]() -> ndarray {
      const ndarray base = make(shape);
      if (kind == access::read) return at(base, key).copy();
      if (kind == access::assign) at(base, key) = upload(first);
      else at(base, key) += upload(first);
      return base;
    };
    cases.add(what, record, [=](const host_array& got) {
      const auto diff = difference(got, expected, {});
      CHECK_MESSAGE(diff.empty(), what,
                    kind == access::assign ? " = "
                    : kind == access::add  ? " += "
                                           : " ",
                    kind == access::read ? "" : show(first), ": ", diff);
    });
  }
  CHECK(f.at_end());
}

}  // namespace

TEST_CASE("basic indexing of an array in memory reads and writes what NumPy does" *
          doctest::test_suite(sharded_suite)) {
  check_all(counting);
}

TEST_CASE("basic indexing of a pending array reads and writes what NumPy does" * doctest::test_suite(sharded_suite)) {
  check_all(counting_pending);
}

TEST_CASE("the three spellings of a subscript name the same elements") {
  using namespace sinter::idx;
  const ndarray x = counting({4, 5, 6});
  const auto same = [](const ndarray& a, const ndarray& b) { return difference(download(a), download(b), {}); };
  CHECK(same(x(_, newaxis, slice(1, -1), -1), x[":, None, 1:-1, -1"]) == "");
  CHECK(same(x(ellipsis, slice(_, _, -2)), x["..., ::-2"]) == "");
  CHECK(same(x(1), x["1"]) == "");
  CHECK(same(x(slice(3, 0, -1)), x["3:0:-1"]) == "");
#ifdef __cpp_multidimensional_subscript
  CHECK(same(x[_, newaxis, slice(1, -1), -1], x[":, None, 1:-1, -1"]) == "");
#else
  CHECK(same(x[1][_], x["1"]) == "");
#endif
}
