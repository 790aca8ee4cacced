// Draws by rejection in vectors: every element has the bits that the text gives it alone, whatever lanes are beside it.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "jit/cpu/block.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"
#include "ops/random/reference.hpp"

using namespace sinter;

namespace {

using jit::block_op, jit::opcode;
constexpr int n = jit::block_lanes;
constexpr double inf = std::numeric_limits<double>::infinity(), not_number = std::numeric_limits<double>::quiet_NaN();

struct family {
  const char* name;
  block_op (*find)(opcode, dtype) noexcept;
};
std::vector<family> families() {
  std::vector<family> all{{"baseline", jit::tier0::baseline::random_op}};
#if SINTER_TIER0_X86
  const auto isa = jit::tier0::active_isa();
  if (isa >= jit::tier0::isa::avx2 && __builtin_cpu_supports("fma"))
    all.push_back({"avx2", jit::tier0::avx2::random_op});
  if (isa >= jit::tier0::isa::avx512) all.push_back({"avx512", jit::tier0::avx512::random_op});
#endif
  return all;
}

/// Positions in order, in order across the carry of the counter, and anywhere.
std::vector<std::vector<std::int64_t>> places(int blocks) {
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(blocks);
  std::vector<std::vector<std::int64_t>> all(3, std::vector<std::int64_t>(count));
  for (std::size_t l = 0; l < count; ++l) {
    const auto k = static_cast<std::int64_t>(l);
    all[0][l] = k;
    all[1][l] = 0xffffffffLL - 300 + k;
    all[2][l] = k * 7919 % 1000003 * 3;
  }
  return all;
}

/// Parameters of a draw: the same for all elements, or another one for each.
template <class T>
struct parameters {
  std::string name;
  std::vector<T> values;
};

/// Compares the block operation of each instruction set with `text`(position, a, b, stream, fault).
template <class R, class A, class B, class Text>
void compare(opcode op, dtype type, const parameters<A>& a, const parameters<B>& b, const Text& text) {
  const auto count = a.values.size();
  const auto blocks = static_cast<int>(count) / n;
  for (const family& f : families()) {
    int at = 0;
    for (const auto& positions : places(blocks)) {
      jit::random_source source{};
      source.key = 0x123456789abcdef;
      source.base = 99;
      source.subsequence = 3;
      const sn::random_stream stream{source.key, source.base, source.subsequence};
      std::vector<R> got(count);
      int fault = 0, known_fault = 0, differ = 0;
      for (int k = 0; k < blocks; ++k) {
        const std::size_t start = static_cast<std::size_t>(k) * n;
        // the last block is a short one
        const int lanes = k + 1 == blocks ? n - jit::lane_multiple : n;
        source.position = positions.data() + start;
        f.find(op, type)(got.data() + start, &source, a.values.data() + start, b.values.data() + start, lanes, &fault);
        for (std::size_t l = start; l < start + static_cast<std::size_t>(lanes); ++l) {
          const R wanted = text(positions[l], a.values[l], b.values[l], stream, &known_fault);
          const bool both_nan = wanted != wanted && got[l] != got[l];
          differ += !both_nan && std::memcmp(&wanted, &got[l], sizeof wanted) != 0;
        }
      }
      INFO(f.name << ", " << a.name << ", " << b.name << ", positions " << at++);
      CHECK(differ == 0);
      CHECK(fault == known_fault);
    }
  }
}

template <class T, class F>
parameters<T> mixed(const char* name, std::size_t count, F next) {
  std::mt19937_64 engine(7);
  parameters<T> all{name, {}};
  for (std::size_t l = 0; l < count; ++l)
    all.values.push_back(static_cast<T>(next(std::uniform_real_distribution<>(0, 1)(engine), engine)));
  return all;
}
template <class T>
parameters<T> same(T x, std::size_t count) {
  return {std::to_string(x), std::vector<T>(count, x)};
}
/// Shapes of every size, those that are refused among them.
double any_shape(double u, std::mt19937_64& engine) {
  const double more = std::uniform_real_distribution<>(0, 1)(engine);
  return u < 0.05   ? 0.0
         : u < 0.06 ? -1.0
         : u < 0.07 ? not_number
         : u < 0.08 ? inf
         : u < 0.5  ? more
                    : std::exp(more * 12 - 4);
}

constexpr std::size_t some = 4 * n;

}  // namespace

TEST_CASE("random: gamma and beta variates in vectors have the bits of the text") {
  const auto gamma = [](std::int64_t at, auto a, auto, const sn::random_stream& s, int* fault) {
    return sn::random_gamma(at, a, s, fault);
  };
  const auto beta = [](std::int64_t at, auto a, auto b, const sn::random_stream& s, int* fault) {
    return sn::random_beta(at, a, b, s, fault);
  };
  for (const double a : {1.0, 2.5, 0.5, 0.01, 50.0, 1e8})
    compare<double>(opcode::random_gamma, dtype::f64, same(a, some), same(1.0, some), gamma);
  const auto shapes = mixed<double>("mixed", some, any_shape), others = mixed<double>("others", some + 1, any_shape);
  const parameters<double> second{"others", {others.values.begin() + 1, others.values.end()}};
  compare<double>(opcode::random_gamma, dtype::f64, shapes, second, gamma);
  compare<float>(opcode::random_gamma, dtype::f32, mixed<float>("mixed", some, any_shape), same(1.0f, some), gamma);
  compare<double>(opcode::random_beta, dtype::f64, same(2.0, some), same(3.0, some), beta);
  compare<double>(opcode::random_beta, dtype::f64, same(0.5, some), same(2.0, some), beta);
  compare<double>(opcode::random_beta, dtype::f64, shapes, second, beta);
  compare<float>(opcode::random_beta, dtype::f32, mixed<float>("mixed", some, any_shape), same(0.7f, some), beta);
}

TEST_CASE("random: poisson and binomial numbers in vectors are those of the text") {
  const auto poisson = [](std::int64_t at, double mean, double, const sn::random_stream& s, int* fault) {
    return sn::random_poisson<long long>(at, mean, s, fault);
  };
  for (const double mean : {0.0, 1e-300, 0.1, 3.5, 9.9, 10.0, 11.0, 350.0, 1e15, 9e18})
    compare<long long>(opcode::random_poisson, dtype::i64, same(mean, some), same(0.0, some), poisson);
  const auto means = mixed<double>("mixed", some, [](double u, std::mt19937_64& engine) {
    const double more = std::uniform_real_distribution<>(0, 1)(engine);
    return u < 0.01 ? -1.0 : u < 0.02 ? not_number : u < 0.03 ? inf : u < 0.5 ? 12 * more : std::exp(46 * more - 4);
  });
  compare<long long>(opcode::random_poisson, dtype::i64, means, same(0.0, some), poisson);

  const auto binomial = [](std::int64_t at, long long count, double p, const sn::random_stream& s, int* fault) {
    return sn::random_binomial<long long>(at, count, p, s, fault);
  };
  const std::pair<long long, double> ordinary[] = {{10, 0.3},    {20, 0.7}, {40, 0.25},      {1000, 0.3},
                                                   {1000, 0.99}, {33, 0.4}, {1000000, 1e-6}, {1000000000000000, 0.5},
                                                   {0, 0.5},     {5, 0.0},  {5, 1.0}};
  for (const auto& [count, p] : ordinary)
    compare<long long>(opcode::random_binomial, dtype::i64, same(count, some), same(p, some), binomial);
  const auto counts = mixed<long long>("mixed", some, [](double u, std::mt19937_64& engine) {
    return u < 0.01 ? -3.0 : u < 0.05 ? 0.0 : std::floor(std::exp(std::uniform_real_distribution<>(0, 43)(engine)));
  });
  const auto chances = mixed<double>("mixed", some, [](double u, std::mt19937_64& engine) {
    const double more = std::uniform_real_distribution<>(0, 1)(engine);
    return u < 0.05   ? 0.0
           : u < 0.1  ? 1.0
           : u < 0.11 ? not_number
           : u < 0.12 ? -0.5
           : u < 0.5  ? std::exp(-40 * more)
                      : more;
  });
  compare<long long>(opcode::random_binomial, dtype::i64, counts, chances, binomial);
}
