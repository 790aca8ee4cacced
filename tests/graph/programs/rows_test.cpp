// Rows of several arrays that are computed beside each other: a kernel for each, and every result of its rows.
#include "graph/programs/joined_rows.hpp"

namespace {

using namespace sinter;
using namespace sinter::test::rows;

const reduce_kw rows{.axis = -1, .keepdims = true};

int count_of(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

ndarray noise(const shape_t& shape, unsigned seed) {
  ndarray x = random::generator(seed).standard_normal(shape);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("rows' results that wait for no reduction of their kernel are stored by it") {
  const ndarray a = noise({50, 300}, 1), b = noise({50, 300}, 2), t = noise({50, 1}, 3);
  const recorder record = [&] {
    const ndarray e = exp(a - max(a, rows)), of_b = sum(exp(b - max(b, rows)), rows);
    const ndarray own = t / sum(e, rows), other = t / of_b;  // one kernel: both read t
    return std::vector<ndarray>{e * own, own, other};
  };
  CHECK(count_of(plan_of(record), "[elementwise]") == 0);
  check_bits(record);
}

TEST_CASE("softmaxes that are recorded step by step beside each other are a kernel each") {
  for (const int count : {2, 4, 7}) {
    CAPTURE(count);
    std::vector<ndarray> a;
    for (int k = 0; k < count; ++k) a.push_back(noise({40, 300}, static_cast<unsigned>(k)));
    const recorder record = [&] {
      std::vector<ndarray> top, e, total, scale, out;
      for (const ndarray& x : a) top.push_back(max(x, rows));
      for (int k = 0; k < count; ++k) e.push_back(exp(a[k] - top[k]));
      for (const ndarray& x : e) total.push_back(sum(x, rows));
      for (const ndarray& x : total) scale.push_back(1.0 / x);
      for (int k = 0; k < count; ++k) out.push_back(e[k] * scale[k]);
      return out;
    };
    check_bits(record);
    CHECK(count_of(plan_of(record), "[rows on chip]") == count);
    CHECK(count_of(plan_of(record), "\nkernel ") == count);
  }
}
