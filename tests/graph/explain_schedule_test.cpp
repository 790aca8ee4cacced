// What explain says about how kernels run.
#include <doctest/doctest.h>

#include <string>

#include "runtime/hooks.hpp"
#include "runtime/trace.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;

namespace {

struct waiting {
  bool before = sn::runtime::synchronous();
  explicit waiting(bool on) { sn::runtime::set_synchronous(on); }
  ~waiting() { sn::runtime::set_synchronous(before); }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("explain shows the schedule of each kernel, its estimated time and why it was chosen") {
  const sn::ndarray x = sn::full({64, 200}, 0.5, sn::float32).copy();
  sn::eval(x);
  for (const sn::ndarray& y :
       {x * 2 + 1, sn::sum(x, {.axis = 1}), sn::sum(x.T(), {.axis = 1}), sn::max(x, {.axis = 0})}) {
    const std::string plan = sn::explain(y);
    CAPTURE(plan);
    for (const char* part : {"\n  runs   ", "\n         reads 0: ", "\n         writes 0: ", " estimated, by "})
      CHECK(contains(plan, part));
  }
  CHECK(contains(sn::explain(sn::sum(x, {.axis = 1})), "\n         joins "));
  CHECK(contains(sn::explain(sn::full({0, 3}, 1.0) + 1), "nothing to compute"));
}

TEST_CASE("explain counts as moved what a kernel reads of an array, and each element once") {
  const sn::ndarray x = sn::full({3000}, 0.5, sn::float32).copy(), i = sn::array(std::vector<std::int64_t>{5, 7});
  sn::eval(x, i);
  const auto moves = [](const sn::ndarray& y, const char* bytes) {
    const std::string plan = sn::explain(y);
    CAPTURE(plan);
    CHECK(contains(plan, std::string("  moves  ") + bytes + ", "));
  };
  moves(x(sn::slice(0, 100)) + x(sn::slice(200, 300)), "1.20 KB");
  moves(x(sn::slice(0, 2000)) + x(sn::slice(1000, 3000)), "20.00 KB");  // half of it twice: 12 KB and the result
  moves(x + x(0), "24.00 KB");
  moves(sn::take(x, i) * 2, "12.02 KB");  // any element may be read
}

TEST_CASE("explain shows for a rolled field how most of it runs") {
  const sn::ndarray x = sn::full({300, 400}, 0.5).copy();
  sn::eval(x);
  const std::string rolled = sn::explain(sn::roll(x, 1, 0) + sn::roll(x, -1, 1)), plain = sn::explain(x + x);
  CAPTURE(rolled);
  if (x.device().kind != sn::device_kind::cpu) return;  // a GPU runs it whole
  CHECK(contains(rolled, "parts where indices are affine"));
  CHECK(contains(rolled, "vector 256 x"));
  CHECK(contains(plain, "vector 256 x"));
}

TEST_CASE("explain shows the measured time of a launch that was waited for, of the same extents and strides only") {
  const sn::ndarray x = sn::full({1000}, 0.5, sn::float32).copy();
  sn::eval(x);
  const auto expression = [](const sn::ndarray& a) { return sn::sqrt(a * 3.25F + 0.125F) - a; };
  {
    const waiting off(false);
    sn::eval(expression(x));
    CHECK_FALSE(contains(sn::explain(expression(x)), "measured"));
  }
  {
    const waiting on(true);
    sn::eval(expression(x));
  }
  CHECK(contains(sn::explain(expression(x)), " measured\n"));
  const sn::ndarray half = x(sn::slice(0, 500));
  CHECK_FALSE(contains(sn::explain(expression(half)), "measured"));
}

TEST_CASE("explain lists an array once that a kernel reads at several places") {
  const sn::ndarray x = sn::full({3000}, 0.5, sn::float32).copy(), y = sn::full({3000}, 0.5, sn::float32).copy();
  sn::eval(x, y);
  const auto listed = [](const sn::ndarray& z) {
    const std::string plan = sn::explain(z), line = "\n  reads  ";
    int count = 0;
    for (std::size_t at = plan.find(line); at != std::string::npos; at = plan.find(line, at + 1)) ++count;
    return count;
  };
  CHECK(listed(x + sn::flip(x)) == 1);
  CHECK(listed(x + sn::flip(x) + y) == 2);
}
