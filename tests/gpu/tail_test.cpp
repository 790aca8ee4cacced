// Monotone tails on the GPU: skipping what cannot win changes no bit. A multiplier that is an array leaves no tail to
// skip, so the same expression with a number and with an array of that number must agree.
#ifdef SINTER_HAS_CUDA

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using form = ndarray (*)(const ndarray& h, const operand& scale);

ndarray great_circle(const ndarray& h, const operand& scale) { return scale * arcsin(sqrt(h)); }
ndarray divided(const ndarray& h, const operand& scale) { return arcsin(sqrt(h)) / scale; }
ndarray only_root(const ndarray& h, const operand& scale) { return scale * sqrt(h); }
ndarray three_roots(const ndarray& h, const operand& scale) { return scale * sqrt(3 * arcsin(sqrt(sqrt(h)))); }
ndarray scaled_inside(const ndarray& h, const operand& scale) { return scale * arcsin(0.75 * sqrt(h)); }

struct named_form {
  std::string name;
  form make;
};
const named_form forms[] = {{"scale * arcsin(sqrt(h))", great_circle},
                            {"arcsin(sqrt(h)) / scale", divided},
                            {"scale * sqrt(h)", only_root},
                            {"scale * sqrt(3 * arcsin(sqrt(sqrt(h))))", three_roots},
                            {"scale * arcsin(0.75 * sqrt(h))", scaled_inside}};

/// A value for each pair of a row and a column.
enum class table { sum, product, sum_below_one };
ndarray combine(table kind, const ndarray& row, const ndarray& column) {
  const ndarray r = row(_, newaxis), c = column(newaxis, _);
  if (kind == table::product) return r * c;
  return kind == table::sum ? r + c : minimum(r + c, 1.0);
}

struct found {
  ndarray value, index;
};
found record(const ndarray& t, bool low) {
  return low ? found{min(t, 1), argmin(t, 1)} : found{max(t, 1), argmax(t, 1)};
}
/// Evaluated on its own, since one kernel for both would have no common tail.
found search(const ndarray& t, bool low) {
  const found f = record(t, low);
  eval(f.value, f.index);
  return f;
}

bool has_skip(const std::vector<std::string>& sources) {
  CHECK(sources.size() == 1);
  CHECK(sources[0].find("struct of_row_out") != std::string::npos);  // rows against columns
  return sources[0].find("skip.init();") != std::string::npos;
}

/// The first row in which the two differ, or -1.
std::int64_t first_wrong_row(const found& a, const found& b) {
  const ndarray both_nan = isnan(a.value) & isnan(b.value);
  const ndarray other_value = (a.value != b.value) | (signbit(a.value) != signbit(b.value));
  const ndarray wrong = (a.index != b.index) | (other_value & ~both_nan);
  if (!any(wrong).item<bool>()) return -1;
  return argmax(wrong).item<std::int64_t>();
}

struct comparison {
  table kind = table::sum;
  form make = great_circle;
  double scale = 12742.0;
  bool fast = false;
};
/// Whether the results with the skip and without it have the same bits; reports the first row where not.
bool agrees(const ndarray& row, const ndarray& column, const comparison& c, bool low) {
  const fast_math_guard guard(c.fast);
  const ndarray scale = array(std::vector<double>{c.scale}, {.dtype = row.dtype()});
  const found skipped = search(c.make(combine(c.kind, row, column), c.scale), low);
  const found plain = search(c.make(combine(c.kind, row, column), scale), low);
  const std::int64_t k = first_wrong_row(skipped, plain);
  if (k < 0) return true;
  INFO("row ", k, " from ", row(k).item<double>(), low ? ": minimum " : ": maximum ", skipped.value(k).item<double>(),
       " at ", skipped.index(k).item<std::int64_t>(), " with the skip, ", plain.value(k).item<double>(), " at ",
       plain.index(k).item<std::int64_t>(), " without it");
  CHECK(false);
  return false;
}

constexpr std::int64_t mantissas = std::int64_t{1} << 23;
/// More than the skip's margin of 2e-6, which is 34 float32 numbers at most; in steps of 16 more than fast_math's of 3e-5.
constexpr std::int64_t window = 48;

std::vector<float> window_steps(int order, double unit) {
  std::vector<float> steps;
  for (std::int64_t k = 0; k < window; ++k) {
    const std::int64_t at = order == 0 ? k : order == 1 ? window - 1 - k : (k * 29 + 5) % window;
    steps.push_back(static_cast<float>(static_cast<double>(at) * unit));
  }
  return steps;
}

/// All windows of neighbouring float32 numbers that start in [2^exponent, 2^(exponent+1)), for -127 below 2^-126.
bool check_binade(const ndarray& lattice, int exponent, table kind, bool fast = false) {
  const double unit = std::ldexp(1.0, std::max(exponent, -126) - 23);
  const ndarray row = exponent == -127 ? lattice * unit : (lattice + double(mantissas)) * unit;
  eval(row);
  for (bool low : {true, false}) {
    for (int order : {low ? 0 : 1, 2}) {
      CAPTURE(exponent);
      CAPTURE(order);
      if (!agrees(row, array(window_steps(order, fast ? 16 * unit : unit)), {.kind = kind, .fast = fast}, low))
        return false;
    }
  }
  return true;
}

ndarray counting(std::int64_t n) {
  const ndarray x = arange(n).astype(float32);
  eval(x);
  return x;
}

template <class T>
struct data_set {
  std::string name;
  table kind;
  std::vector<T> row, column;
};

/// Rows and columns that reach every way out of the domain. Neither count is a multiple of a vector.
template <class T>
std::vector<data_set<T>> adversarial() {
  constexpr std::int64_t rows = 1027, columns = 1003;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  constexpr T tiny = std::numeric_limits<T>::denorm_min(), epsilon = std::numeric_limits<T>::epsilon();
  auto uniform = [](std::int64_t n, double low, double high, unsigned seed) {
    return gpu_test::uniform<T>(n, low, high, seed);
  };
  std::vector<data_set<T>> sets = {
      {"inside the domain", table::sum, uniform(rows, 0, 0.5, 1), uniform(columns, 0, 0.5, 2)},
      {"negative and above 1", table::sum, uniform(rows, -0.5, 1, 3), uniform(columns, -0.5, 0.7, 4)},
      {"mostly outside", table::sum, uniform(rows, -2, 1, 5), uniform(columns, -1, 2, 6)},
      {"close together", table::sum, uniform(rows, 0.25, 0.5, 7), uniform(columns, 0, 300 * double(epsilon), 8)},
      {"ties", table::sum, uniform(rows, 0, 1, 9), uniform(columns, 0, 1, 10)},
      {"not a number", table::product, uniform(rows, 0, 1, 11), uniform(columns, 0, 1, 12)},
      {"zeros of both signs", table::product, uniform(rows, -1, 1, 13), uniform(columns, -1, 1, 14)},
      {"subnormal", table::product, uniform(rows, 0, 2000, 15), uniform(columns, 0, 40, 16)},
      {"at the end of the domain", table::sum, uniform(rows, 0, 0, 17), uniform(columns, 0, 0, 18)},
  };
  for (auto* side : {&sets[4].row, &sets[4].column})
    for (T& x : *side) x = std::floor(x * 5) / 8;
  for (std::size_t k = 0; k < rows; k += 3) sets[5].row[k] = k % 2 ? T(0) : k % 4 ? nan : infinity;
  for (std::size_t k = 100; k < columns; k += 90) sets[5].column[k] = k % 180 == 100 ? infinity : T(0);
  for (auto* side : {&sets[6].row, &sets[6].column})
    for (std::size_t k = 0; k < side->size(); k += 2) (*side)[k] = k % 4 ? T(0) : -T(0);
  for (T& x : sets[7].row) x = std::floor(x) * tiny;
  for (T& x : sets[7].column) x = std::floor(x);
  for (std::size_t k = 0; k < rows; ++k) sets[8].row[k] = T(1) - T(k % 32) * epsilon / 2;
  for (std::size_t k = 0; k < columns; ++k) sets[8].column[k] = T(std::int64_t(k * 7 % 64) - 48) * epsilon / 2;
  return sets;
}

template <class T>
void check_adversarial(bool fast = false) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const double scales[] = {2.0,
                           12742.0,
                           double(std::numeric_limits<T>::denorm_min()),
                           double(std::numeric_limits<T>::max()),
                           0.0,
                           -0.0,
                           -3.0,
                           nan,
                           infinity,
                           -infinity};
  for (const data_set<T>& set : adversarial<T>()) {
    const ndarray row = array(set.row), column = array(set.column);
    // Two forms suffice for the second way of combining: each costs several compilations.
    for (const named_form& f : std::span(forms).first(set.kind == table::product ? 2 : std::size(forms)))
      for (double scale : scales)
        for (bool low : {true, false}) {
          CAPTURE(set.name);
          CAPTURE(f.name);
          CAPTURE(scale);
          if (!agrees(row, column, {.kind = set.kind, .make = f.make, .scale = scale, .fast = fast}, low)) return;
        }
  }
}

}  // namespace

TEST_CASE("gpu: the tails tested here are skipped for a positive finite number, and never for an array") {
  if (gpu_test::no_nvrtc()) return;
  for (dtype t : {float32, float64}) {
    const ndarray row = array(gpu_test::uniform<double>(600, 0, 0.5, 1), {.dtype = t});
    const ndarray column = array(gpu_test::uniform<double>(40, 0, 0.5, 2), {.dtype = t});
    const ndarray h = combine(table::sum, row, column), factor = array(std::vector<double>{2.0}, {.dtype = t});
    for (const named_form& f : forms)
      for (bool low : {true, false}) {
        CAPTURE(f.name);
        const auto sources = gpu_test::cuda_sources(record(f.make(h, 2.0), low).index);
        CHECK(has_skip(sources));
        if (low) CHECK(jit::compile_cuda(sources[0], {.arch = 90}).bytes.size() > 0);
        CHECK_FALSE(has_skip(gpu_test::cuda_sources(record(f.make(h, factor), low).index)));
      }
    for (double scale : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      CHECK_FALSE(has_skip(gpu_test::cuda_sources(record(great_circle(h, scale), true).index)));
  }
}

TEST_CASE("gpu: the tail skip changes no bit: every float32 in [0, 1] before every one that it may skip") {
  if (gpu_test::no_gpu()) return;
  const ndarray lattice = counting(mantissas);
  for (int exponent = -127; exponent < 0; ++exponent)
    if (!check_binade(lattice, exponent, table::sum)) return;
  CHECK(check_binade(lattice, -1, table::sum_below_one));  // else NaN hides the last windows
}

TEST_CASE("gpu: the tail skip changes no bit under fast_math either") {
  if (gpu_test::no_gpu()) return;
  const ndarray lattice = counting(mantissas);
  for (int exponent = -127; exponent < 0; exponent += 7)
    if (!check_binade(lattice, exponent, table::sum, true)) return;
  CHECK(check_binade(lattice, -1, table::sum_below_one, true));
  check_adversarial<float>(true);
}

TEST_CASE("gpu: the tail skip changes no bit: float32 out of the domain, ties, zeros, odd multipliers") {
  if (gpu_test::no_gpu()) return;
  check_adversarial<float>();
}

TEST_CASE("gpu: the tail skip changes no bit: float64 out of the domain, ties, zeros, odd multipliers") {
  if (gpu_test::no_gpu()) return;
  check_adversarial<double>();
}

TEST_CASE("gpu: the tail skip changes no bit: random float64 windows of neighbours in every binade") {
  if (gpu_test::no_gpu()) return;
  constexpr std::int64_t rows = std::int64_t{1} << 20, columns = 160;  // the margin of 1e-14 is 90 numbers at most
  std::vector<double> row = gpu_test::uniform<double>(rows, 1, 2, 21), column;
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = std::ldexp(row[k], -1 - static_cast<int>(k % 1040));
  for (bool low : {true, false}) {
    column.clear();
    for (std::int64_t k = 0; k < columns; ++k)
      column.push_back(1 + static_cast<double>(low ? k : columns - 1 - k) * 0x1p-52);
    CHECK(agrees(array(row), array(column), {.kind = table::product}, low));
  }
}

#endif
