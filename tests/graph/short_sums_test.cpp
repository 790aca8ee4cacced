// Sums over a few elements are computed where they are read, and results with a short axis are reduced in one pass: nothing
// of the size of all pairs is stored, and the bits are those of statements that are evaluated at once.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/loop_programs.hpp"
#include "graph/meter.hpp"
#include "graph/values/limits.hpp"
#include "sinter/grad.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::test::loops;
using sn::slice;

namespace {

/// The statement's value, in memory where each statement is.
ndarray made(const ndarray& x) {
  statement(x);
  return x;
}

/// Places in space, in memory.
ndarray points(std::int64_t n, int seed) {
  const ndarray x = uniform({n, 3}, seed) * 4.0f - 2.0f;
  sn::eval(x);
  return x;
}

// ---- programs over pairs: a few numbers for each of n things, and something of each pair

arrays cut_off_potential(int, std::int64_t n) {
  const ndarray x = points(n, 1);
  const ndarray d = made(x(_, newaxis, _) - x(newaxis, _, _));
  const ndarray r2 = made(sn::sum(d * d, 2));
  const ndarray near = made((r2 < 1.5f) & (r2 > 0.0f));
  const ndarray inverse = made(1.0f / sn::where(near, r2, 1.0f));
  const ndarray pairs = made(sn::where(near, inverse * inverse - inverse, 0.0f));
  return {sn::sum(pairs), sn::sum(pairs, 1), sn::sum(pairs, 0)};
}
arrays forces(int, std::int64_t n) {
  const ndarray x = points(n, 2);
  const ndarray d = made(x(newaxis, _, _) - x(_, newaxis, _));
  const ndarray r2 = made(sn::sum(d * d, -1) + 0.25f);
  const ndarray f = made(1.0f / (r2 * sn::sqrt(r2)));
  return {sn::sum(f(_, _, newaxis) * d, 1)};
}
arrays forces_by_columns(int, std::int64_t n) {
  const ndarray x = made(uniform({3, n}, 3));
  const ndarray d = made(x(_, newaxis, _) - x(_, _, newaxis));
  const ndarray r2 = made(sn::sum(d * d, 0) + 0.25f);
  const ndarray f = made(sn::exp(-r2) / r2);
  const ndarray pull = made(f * d);
  return {sn::sum(pull, 1), sn::sum(pull, 2)};
}
arrays gram_by_lines(int, std::int64_t n) {  // a polynomial kernel of four features
  const ndarray x = made(uniform({n, 4}, 4)), y = made(uniform({n, 4}, 5));
  const ndarray g = made(sn::sum(x(_, newaxis, _) * y(newaxis, _, _), 2));
  const ndarray k = made((1.0f + g) * (1.0f + g));
  return {sn::sum(k, 0), sn::max(k, 1)};
}
arrays nearest_by_largest_difference(int, std::int64_t n) {  // the maximum norm
  const ndarray x = points(n, 6), y = points(n, 7);
  const ndarray d = made(sn::max(sn::abs(x(_, newaxis, _) - y(newaxis, _, _)), 2));
  return {sn::min(d, 1), sn::argmin(d, 0)};
}
arrays overlapping_boxes(int, std::int64_t n) {
  const ndarray low = points(n, 8), high = points(n, 9);
  const ndarray apart =
      made(sn::any((low(_, newaxis, _) > high(newaxis, _, _)) | (low(newaxis, _, _) > high(_, newaxis, _)), 2));
  return {sn::sum(sn::logical_not(apart), 1)};
}
arrays torques(int, std::int64_t n) {  // r x F of all pairs, by components
  const ndarray x = points(n, 10), spin = points(n, 11);
  const ndarray d = made(x(newaxis, _, _) - x(_, newaxis, _));
  const ndarray r2 = made(sn::sum(sn::square(d), 2) + 0.5f);
  const ndarray along = made(sn::sum(d * spin(newaxis, _, _), 2) / r2);
  return {sn::sum(along(_, _, newaxis) * d - spin(newaxis, _, _), 1)};
}
arrays angles_of_quaternions(int, std::int64_t n) {
  const ndarray q = made(uniform({n, 4}, 12) - 0.5f);
  const ndarray unit = made(q / sn::sqrt(sn::sum(q * q, 1, {.keepdims = true})));
  const ndarray c = made(sn::abs(sn::sum(unit(_, newaxis, _) * unit(newaxis, _, _), -1)));
  return {sn::sum(1.0f - c, 1), sn::max(c, 0)};
}
arrays interference(int, std::int64_t n) {  // complex numbers as pairs
  const ndarray a = made(uniform({n, 2}, 13) - 0.5f);
  const ndarray s = made(a(_, newaxis, _) + a(newaxis, _, _));
  return {sn::sum(sn::sqrt(sn::sum(s * s, 2)), 0)};
}
arrays products_of_gaps(int, std::int64_t n) {
  const ndarray x = points(n, 14);
  const ndarray volume = made(sn::prod(sn::abs(x(_, newaxis, _) - x(newaxis, _, _)), 2));
  return {sn::sum(volume, 1)};
}
arrays hamming(int, std::int64_t n) {
  const ndarray code = made((uniform({n, 7}, 15) * 4.0f).astype(sn::uint8));
  const ndarray d = made(sn::count_nonzero(sn::not_equal(code(_, newaxis, _), code(newaxis, _, _)), 2));
  return {sn::sum(d, 1), sn::max(d)};
}

// ---- gradients of sums over pairs

ndarray potential(const ndarray& r2) { return sn::sum(sn::exp(-r2) / (1.0f + r2)); }
ndarray energy_of_rows(const ndarray& x) {
  return potential(sn::sum(sn::square(x(_, newaxis, _) - x(newaxis, _, _)), 2));
}
ndarray energy_of_columns(const ndarray& x) {
  return potential(sn::sum(sn::square(x(_, _, newaxis) - x(_, newaxis, _)), 0));
}
ndarray energy_of_maxima(const ndarray& x) {
  return potential(sn::max(sn::abs(x(_, newaxis, _) - x(newaxis, _, _)), 2));
}

// ---- sums of each dtype, along the first or the last axis

struct {
  dtype type;
  std::int64_t count;
  bool first;
} kind;

ndarray numbers_of_kind() {
  const ndarray x = kind.first ? uniform({kind.count, 40}, 41) : uniform({40, kind.count}, 41);
  if (is_complex(kind.type)) return x.astype(kind.type) + sn::sqrt(-x.astype(sn::complex64)).astype(kind.type);
  if (is_real_floating(kind.type)) return (sn::where(x < 0.2f, -0.0f, x) * 3.0f).astype(kind.type);
  if (kind.type == dtype::b1) return x < 0.5f;
  return (x * 7.0f).astype(kind.type);
}
arrays sums_of_kind(int, std::int64_t) {
  const ndarray v = made(numbers_of_kind());
  const ndarray wide = kind.first ? v(_, _, newaxis) : v(_, newaxis, _);
  const ndarray set = made(sn::not_equal(wide, sn::zeros({}, kind.type)));
  const int axis = kind.first ? 0 : 2;
  arrays out;
  const auto add = [&](const ndarray& sum) {  // read in a space that is twice as large
    statement(sum);
    out.push_back(sum * sn::ones({2, 40, 1}, sum.dtype()));
  };
  add(sn::sum(wide, axis));
  add(sn::any(set, axis));
  add(sn::all(set, axis));
  if (is_complex(kind.type)) return out;
  add(sn::prod(wide, axis));
  add(sn::max(wide, axis));
  add(sn::min(wide, axis));
  return out;
}

// ---- programs over one axis: what is stored has the size of the operands

arrays luminance(int, std::int64_t n) {
  const ndarray image = made(uniform({n / 4, 12, 3}, 21)), weight = made(sn::array({0.2126f, 0.7152f, 0.0722f}));
  const ndarray y = made(sn::sum(image * weight, 2));
  return {sn::clip(image - y(_, _, newaxis), 0.0f, 1.0f), sn::mean(y)};
}
arrays barycentric(int, std::int64_t n) {
  const ndarray p = made(uniform({n, 2}, 22)), a = made(uniform({n, 2}, 23)), b = made(uniform({n, 2}, 24) + 1.0f);
  const ndarray v0 = made(a - p), v1 = made(b - p);
  const ndarray d00 = made(sn::sum(v0 * v0, 1)), d01 = made(sn::sum(v0 * v1, 1)), d11 = made(sn::sum(v1 * v1, 1));
  const ndarray u = made((d11 - d01) / (d00 * d11 - d01 * d01 + 1.0f));
  return {u, u(slice(1, _)) - u(slice(_, -1)), sn::sum(u)};
}
arrays cross_and_norm(int, std::int64_t n) {
  const ndarray a = points(n, 25), b = points(n, 26);
  const ndarray c = made(sn::cross(a, b));
  const ndarray length = made(sn::sqrt(sn::sum(c * c, 1)));
  return {c / length(_, newaxis), length};
}
arrays short_softmax(int, std::int64_t n) {
  const ndarray x = points(n, 27);
  const ndarray e = made(sn::exp(x - sn::max(x, 1, {.keepdims = true})));
  return {e / sn::sum(e, 1, {.keepdims = true})};
}
arrays neighbours(int, std::int64_t n) {  // of sums: each is read through two maps
  const ndarray x = points(n, 28);
  const ndarray s = made(sn::sum(sn::exp(x), 1));
  return {s(slice(1, _)) * s(slice(_, -1)), s(slice(_, 5))};
}
arrays scaled_windows(int, std::int64_t n) {  // the second sum waits for the first, and has its rows' number and length
  const ndarray x = made(uniform({n, 6}, 29)), y = made(uniform(n + 5, 30));
  const ndarray scale = made(sn::sum(x, 1));
  return {scale, sn::sum(sn::sliding_window_view(y, {6}) * scale(_, newaxis), 1)};
}

constexpr program pairs[] = {{"cut_off_potential", cut_off_potential},
                             {"forces", forces},
                             {"forces_by_columns", forces_by_columns},
                             {"gram_by_lines", gram_by_lines},
                             {"nearest_by_largest_difference", nearest_by_largest_difference},
                             {"overlapping_boxes", overlapping_boxes},
                             {"torques", torques},
                             {"angles_of_quaternions", angles_of_quaternions},
                             {"interference", interference},
                             {"products_of_gaps", products_of_gaps},
                             {"hamming", hamming}};
constexpr program lines[] = {{"luminance", luminance},           {"barycentric", barycentric},
                             {"cross_and_norm", cross_and_norm}, {"short_softmax", short_softmax},
                             {"neighbours", neighbours},         {"scaled_windows", scaled_windows}};

test::spent spent_by(const program& p, std::int64_t n, bool eager) {
  at_once = eager;
  const test::meter counted;
  const arrays all = p.run(1, n);
  sn::eval(std::span<const ndarray>(all));
  return counted.now();
}

}  // namespace

TEST_CASE("short sums: programs have the bits of statements that are evaluated at once") {
  const settings_guard restore;
  for (const cpu::tier tier : {cpu::tier::interpreted, cpu::get_tier()}) {
    cpu::set_tier(tier);
    for (const auto& list : {std::span<const program>(pairs), std::span<const program>(lines)})
      for (const program& p : list) {
        CAPTURE(std::string(p.name));
        for (const std::int64_t n : {std::int64_t{4}, std::int64_t{37}, std::int64_t{300}}) {
          CAPTURE(n);
          CHECK(bits(p, 1, n, false) == bits(p, 1, n, true));
        }
      }
  }
}

TEST_CASE("short sums: what programs return is in memory once it has been evaluated together") {
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  for (const auto& list : {std::span<const program>(pairs), std::span<const program>(lines)})
    for (const program& p : list) {
      CAPTURE(std::string(p.name));
      const arrays all = p.run(1, 300);
      sn::eval(std::span<const ndarray>(all));
      // A sum that waits for another one's kernel, as if it were one of that kernel's, would wait for ever.
      for (const ndarray& x : all) CHECK(graph::is_in_memory(sn::ops::value_of(x)));
    }
}

TEST_CASE("short sums: what depends on pairs of things is never stored") {
  if (!current_backend().host_addressable()) return;  // the meter observes launches on the CPU
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  constexpr std::int64_t n = 600;
  for (const program& p : pairs) {
    CAPTURE(std::string(p.name));
    const test::spent lazy = spent_by(p, n, false), eager = spent_by(p, n, true);
    CHECK(lazy.peak <= 64 * n * 4 + (1 << 16));
    CHECK(lazy.cost <= 1.1 * eager.cost);
  }
}

TEST_CASE(
    "short sums: gradients of energies of pairs store nothing of each pair, and have the bits of separate kernels") {
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  constexpr std::int64_t n = 600;
  const ndarray rows = uniform({n, 3}, 31), columns = uniform({3, n}, 32);
  const auto run = [&](int which) -> ndarray {
    if (which == 0) return sn::grad(energy_of_rows)(rows);
    if (which == 1) return sn::grad(energy_of_columns)(columns);
    return sn::grad(energy_of_maxima)(rows);
  };
  for (const int which : {0, 1, 2}) {
    CAPTURE(which);
    const bool measured = current_backend().host_addressable();
    std::vector<float> fused;
    if (measured) {
      const test::meter counted;
      fused = run(which).to_vector<float>();
      const test::spent s = counted.now();
      CHECK(s.peak <= 64 * n * 4 + (1 << 16));
      CHECK(s.launches <= 6);
    } else {
      fused = run(which).to_vector<float>();
    }
    graph::limits().fuse = false;
    CHECK(fused == run(which).to_vector<float>());
    graph::limits() = restore.limits;
  }
}

TEST_CASE("short sums: every dtype and number of elements has the bits of a stored sum") {
  const settings_guard restore;
  for (int t = 0; t < dtype_count; ++t)
    for (std::int64_t count = 1; count <= 9; ++count)
      for (const bool first : {false, true}) {
        CAPTURE(t);
        CAPTURE(count);
        CAPTURE(first);
        kind = {static_cast<dtype>(t), count, first};
        const program p{"sums", sums_of_kind};
        const auto read = bits(p, 1, 0, false), results = bits(p, 1, 0, true);
        graph::limits().fuse =
            false;  // reduced as rows and columns, which results on the CPU are not where they are short
        const auto reduced = bits(p, 1, 0, true);
        graph::limits().fuse = true;
        CHECK(read == reduced);
        CHECK(results == reduced);
      }
}

TEST_CASE("short sums: programs along one axis cost and hold no more than statements that are evaluated at once") {
  if (!current_backend().host_addressable()) return;
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  for (const program& p : lines) {
    CAPTURE(std::string(p.name));
    const test::spent lazy = spent_by(p, elements, false), eager = spent_by(p, elements, true);
    CHECK(lazy.cost <= 1.1 * eager.cost);
    CHECK(lazy.peak <= eager.peak + eager.peak / 4 + one_operand);
  }
}

namespace {
std::vector<jit::kernel_kind>* kinds = nullptr;
void keep_kind(const jit::launch& l) { kinds->push_back(l.code->kind); }
}  // namespace

TEST_CASE("short sums: of windows that overlap, results that lie side by side are computed as operations on elements") {
  const ndarray x = uniform({5000}, 4).to_device("cpu");
  sn::eval(x);
  const auto in_blocks = [&](const ndarray& w) {
    std::vector<jit::kernel_kind> all;
    kinds = &all;
    const cpu::launch_observer before = cpu::set_launch_observer(keep_kind);
    sn::eval(w);
    cpu::set_launch_observer(before);
    return all == std::vector<jit::kernel_kind>{jit::kernel_kind::elementwise};
  };
  const ndarray windows = sn::sliding_window_view(x, {8});
  CHECK(in_blocks(sn::mean(windows, 1)));
  CHECK(in_blocks(sn::max(sn::abs(windows), 1)));
  CHECK(in_blocks(sn::mean(windows * windows, 1) - sn::square(sn::mean(windows, 1))));
  CHECK(!in_blocks(sn::sum(sn::reshape(x, {-1, 8}), 1)));
  const ndarray stored = windows.copy();
  sn::eval(stored);
  CHECK(sn::array_equal(sn::sum(windows, 1), sn::sum(stored, 1)));
  CHECK(sn::array_equal(sn::max(sn::abs(windows), 1), sn::max(sn::abs(stored), 1)));
}
