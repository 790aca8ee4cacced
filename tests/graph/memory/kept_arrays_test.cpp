// Arrays that a loop replaces while sums of them are pending: they do not stay in memory until somebody reads the sums.
#include <doctest/doctest.h>

#include <vector>

#include "graph/meter.hpp"
#include "graph/run/kept_arrays.hpp"
#include "graph/values/left_bytes.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using arrays = std::vector<ndarray>;

constexpr std::int64_t side = 256;
constexpr std::size_t array_bytes = side * side * sizeof(float);
constexpr int steps = 60;

ndarray matrix(std::uint64_t seed) {
  ndarray x = random::generator(seed).random({side, side}, {.dtype = float32, .device = device("cpu")}) - 0.5f;
  eval(x);
  return x;
}
bool is_pending(const ndarray& x) { return !ops::value_of(x)->is_leaf(); }

/// What a loop takes that replaces a product in each step and pushes back what `of` makes of it.
template <class F>
test::spent spent_on(F of, arrays& pushed) {
  const ndarray w = matrix(1) * 0.1f;
  ndarray y = matrix(2);
  eval(w, y);
  const test::meter spent;
  for (int k = 0; k < steps; ++k) {
    y = matmul(w, y);
    of(y, pushed);
  }
  eval(y);
  return spent.now();
}

}  // namespace

TEST_CASE("sums of products that a loop replaces keep a few of these, not all") {
  arrays losses;
  const std::size_t peak = spent_on([](const ndarray& y, arrays& to) { to.push_back(mean(y)); }, losses).peak;
  CHECK(peak <= 8 * array_bytes);
  CHECK(losses.size() == steps);
  // The same numbers as without laziness.
  const ndarray w = matrix(1) * 0.1f;
  ndarray y = matrix(2);
  for (const ndarray& loss : losses) {
    y = matmul(w, y);
    eval(y);
    ndarray now = mean(y);
    eval(now);
    CHECK(loss.item<float>() == now.item<float>());
  }
}

TEST_CASE(
    "several sums over one replaced array are one kernel, and what is computed from sums is evaluated with them") {
  arrays pushed;
  const auto all = [](const ndarray& y, arrays& to) {
    to.push_back(sqrt(sum(square(y))));
    to.push_back(max(absolute(y)) / mean(y));
    to.push_back(sum(y, 0));
  };
  const test::spent spent = spent_on(all, pushed);
  CHECK(spent.peak <= 9 * array_bytes);
  // Sums of all and of columns are two kernels, epilogues included.
  CHECK(spent.launches <= 2 * steps);
  const ndarray w = matrix(1) * 0.1f;
  ndarray y = matrix(2);
  for (std::size_t k = 0; k < pushed.size(); k += 3) {
    y = matmul(w, y);
    arrays now;
    all(y, now);
    for (std::size_t i = 0; i < 3; ++i) CHECK(array_equal(pushed[k + i], now[i], true));
  }
}

TEST_CASE(
    "averages of what a loop replaces keep a few arrays, not all, and stay pending where they keep no more than one") {
  const ndarray w = matrix(1) * 0.1f;
  eval(w);
  std::vector<float> means[2];
  for (const bool at_once : {false, true}) {
    ndarray y = matrix(2), mean = y, most = y;
    const test::meter spent;
    for (int k = 0; k < steps; ++k) {
      y = sort(cos(matmul(w, y) * 40.0f));
      mean = 0.9f * mean + 0.1f * y;
      most = maximum(most, y);
      if (at_once) eval(mean, most);
      if (k == 0 && !at_once) CHECK(is_pending(mean));
    }
    eval(mean, most);
    CHECK(spent.now().peak <= 10 * array_bytes);
    means[at_once] = mean.to_vector<float>();
    for (const float m : most.to_vector<float>()) means[at_once].push_back(m);
  }
  CHECK(means[0] == means[1]);
}

TEST_CASE("sums of arrays to which others refer stay pending, and are fused with what needs them") {
  const ndarray w = matrix(3), x = matrix(4);
  arrays kept, means, scaled;
  for (int k = 0; k < 20; ++k) {
    ndarray y = matmul(w, x + float(k));
    kept.push_back(y);
    means.push_back(mean(y));
    const ndarray z = matmul(w, x - float(k)), centre = mean(z, 1, {.keepdims = true});
    scaled.push_back((z - centre) / max(z, 1, {.keepdims = true}));  // z is gone, but not for this
  }
  for (const ndarray& m : means) CHECK(is_pending(m));
  for (const ndarray& s : scaled) CHECK(is_pending(s));
  // As many kernels as where the array is still there.
  const auto launches_of = [](const ndarray& v) {
    const test::meter spent;
    eval(v);
    return spent.now().launches;
  };
  const ndarray z = matmul(w, x), here = (z - mean(z, 1, {.keepdims = true})) / max(z, 1, {.keepdims = true});
  CHECK(launches_of(scaled.back()) == launches_of(here));
  // Those of arrays that are let go are not.
  kept.clear();
  const ndarray more = sum(matmul(w, w));
  for (const ndarray& m : means) CHECK_FALSE(is_pending(m));
  for (std::size_t k = 0; k + 1 < scaled.size(); ++k) CHECK(is_pending(scaled[k]));
}

namespace {

/// Many arrays that are left in memory to sums of them, so that somebody looks for what keeps memory.
void leave_many(const ndarray& w) {
  arrays sums;
  for (int k = 0; k < 20; ++k) sums.push_back(sum(matmul(w, w + float(k))));
}

}  // namespace

TEST_CASE("chains over replaced arrays: a variable of the chain keeps the array, and no sum is evaluated for it") {
  const ndarray w = matrix(5);
  ndarray y = matmul(w, w), half = y * 0.5f;
  const ndarray total = sum(half), other = sum(square(y));
  y = w;
  leave_many(w);
  const ndarray last = sum(w);
  CHECK(is_pending(half));
  CHECK(is_pending(total));
  CHECK(is_pending(other));
  half = w;
  leave_many(w);
  CHECK_FALSE(is_pending(total));
  CHECK_FALSE(is_pending(other));
  const ndarray again = matmul(w, w);
  CHECK(total.item<float>() == sum(again * 0.5f).item<float>());
  CHECK(other.item<float>() == sum(square(again)).item<float>());
}

TEST_CASE("a value that cannot be evaluated stays pending, and the loop goes on") {
  const ndarray w = matrix(6);
  std::vector<ndarray> sums;
  {
    const ndarray y = matmul(w, w);
    sums.push_back(
        sum(take(y, array({0, 300}, {.device = device("cpu")}), 0)));  // out of range, which the kernel finds
  }
  for (int k = 0; k < 20; ++k) sums.push_back(mean(matmul(w, w + float(k))));
  CHECK_THROWS_AS(sums[0].item<float>(), index_error);
  CHECK(sums.back().item<float>() == mean(matmul(w, w + 19.0f)).item<float>());
}

TEST_CASE("a few elements that are read of a pending array are no reason to store it") {
  const ndarray x = matrix(3), few = x * 2 - 1;
  const ndarray y = few * few;
  CHECK(y(0, 5).item<float>() == doctest::Approx(y["0:1"](0, 5).item<float>()));
  const test::meter spent;
  const ndarray total = sum(y);
  eval(total);
  CHECK(spent.now().peak < array_bytes / 4);
}

TEST_CASE("what was kept once does not decide how often is looked when nothing is kept any more") {
  graph::left_memory& left = graph::left_bytes();
  graph::release_kept_arrays(false);
  const std::size_t at_first = left.look_at.load();
  {
    arrays sums;  // over arrays to which others refer: they stay pending, and the more there are, the rarer looks are
    const ndarray x = matrix(3);
    for (int k = 0; k < 400; ++k) sums.push_back(sum(x * float(k)));
    graph::release_kept_arrays(false);
    CHECK(left.look_at.load() > at_first);
  }
  graph::release_kept_arrays(false);
  CHECK(left.look_at.load() == at_first);
}
