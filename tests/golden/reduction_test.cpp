// Reductions against NumPy over all axis sets of ranks 0 to 5: odd and zero sizes, views, broadcast inputs, dtypes.
#include <doctest/doctest.h>

#include "golden/batch.hpp"
#include "golden/functions.hpp"
#include "golden/golden.hpp"
#include "golden/layouts.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

struct reduction_case {
  std::string function;
  laid_out_array input;
  axes over;
  bool keepdims = false;
  std::optional<dtype> type;
  double ddof = 0;

  std::string title() const {
    static constexpr const char* layouts[] = {"", " transposed", " sliced", " broadcast"};
    std::string out = function + " of " + std::string(name(input.array.dtype())) + to_string(input.array.shape()) +
                      layouts[static_cast<int>(input.how)] + ", axis ";
    if (!over.given()) out += "None";
    for (int a : over) out += std::to_string(a) + " ";
    if (over.given() && over.size() == 0) out += "()";
    if (keepdims) out += ", keepdims";
    if (type) out += ", dtype " + std::string(name(*type));
    if (ddof != 0) out += ", ddof 1";
    return out;
  }
  ndarray run() const {
    const auto f = find_reduction(function);
    REQUIRE_MESSAGE(bool(f), function);
    return f(input.array, over, keepdims, type, ddof);
  }
};

reduction_case read_case(golden_file& f, const std::vector<laid_out_array>& inputs) {
  reduction_case c;
  c.function = f.text();
  c.input = inputs[static_cast<std::size_t>(f.varint())];
  if (f.u8()) {
    const auto d = f.dims();
    c.over = axes(std::vector<int>(d.begin(), d.end()));
  }
  c.keepdims = f.u8();
  const auto code = f.u8();
  if (code != 255) c.type = static_cast<dtype>(code);
  c.ddof = f.f64();
  return c;
}

}  // namespace

TEST_CASE("reductions give NumPy's dtype, shape and values over every set of axes" *
          doctest::test_suite(sharded_suite)) {
  golden_file f("reductions.bin");
  std::vector<laid_out_array> inputs;
  for (auto n = f.varint(); n > 0; --n) inputs.push_back(read_laid_out(f));
  batch cases;
  const sample part(8);
  for (int i = 0; i < f.cases(); ++i) {
    const auto c = read_case(f, inputs);
    const std::string what = "case " + std::to_string(i) + ": " + c.title();
    const bool mine = part.takes(i / 40) && this_shard().takes(part.place(i / 40));
    if (f.u8()) {
      if (mine) CHECK_THROWS_AS_MESSAGE(c.run(), error, what);
      continue;
    }
    const auto tolerance = f.tolerance();
    const auto expected = f.array();
    if (!mine) continue;
    cases.add(
        what, [c] { return c.run(); },
        [=](const host_array& got) {
          const auto diff = difference(got, expected, tolerance);
          CHECK_MESSAGE(diff.empty(), what, ": ", diff);
        });
  }
  CHECK(f.at_end());
}
