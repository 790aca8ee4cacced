// Sorting, scans, unique and searchsorted against NumPy 2: every dtype, several orders of the elements, every axis.
#include <doctest/doctest.h>

#include "golden/golden.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

ndarray result_of(const std::string& name, const ndarray& x, optional_axis axis, const ndarray& probe) {
  if (name == "sort") return sort(x, axis);
  if (name == "argsort") return argsort(x, axis);
  if (name == "cumsum") return cumsum(x, axis);
  if (name == "cumprod") return cumprod(x, axis);
  if (name == "cummax") return cummax(x, axis);
  if (name == "cummin") return cummin(x, axis);
  if (name == "unique values") return unique(x);
  if (name == "unique index") return unique(x, {.return_index = true}).index;
  if (name == "unique inverse") return unique(x, {.return_inverse = true}).inverse;
  if (name == "unique counts") return unique(x, {.return_counts = true}).counts;
  if (name == "searchsorted left") return searchsorted(sort(x, std::nullopt), probe);
  if (name == "searchsorted right") return searchsorted(sort(x, std::nullopt), probe, "right");
  throw io_error("no function is called " + name);
}

}  // namespace

TEST_CASE("sorting, scans, unique and searchsorted give what NumPy does" * doctest::test_suite(sharded_suite)) {
  golden_file f("sorting.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const std::string name = f.text();
    const bool along = f.u8() != 0;
    const int number = static_cast<int>(f.varint());
    const host_array x = f.array();
    const policy p = f.tolerance();
    const host_array expected = f.array();
    const bool searches = name.rfind("searchsorted", 0) == 0;
    const ndarray probe = searches ? upload(f.array()) : ndarray();
    if (!this_shard().takes(i / 40)) continue;
    const optional_axis axis = along ? optional_axis(number) : optional_axis(std::nullopt);
    const std::string what = name + " of " + show(x) + (along ? " along " + std::to_string(number) : "");
    const std::string wrong = difference(download(result_of(name, upload(x), axis, probe)), expected, p, {&x});
    CHECK_MESSAGE(wrong.empty(), what, ": ", wrong);
  }
  CHECK(f.at_end());
}
