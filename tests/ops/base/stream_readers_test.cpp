// Streams that read one array at the same time: for every function of it, none of them waits for another one.
#include <doctest/doctest.h>

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;

namespace {

/// Arrays that are only read, each in memory in C order, in the dtype that the calls take as it is.
struct inputs {
  ndarray numbers, weights, keys, flags, spectrum, matrix, sides, row, positive;
  sn::linalg::lu_factors factors{};

  inputs(const sn::device& d, bool factored) {
    const ndarray n = sn::arange(64, {.device = d});
    numbers = sn::sin(n * 1.7);
    weights = sn::cos(n * 0.3);
    keys = n * 7 % 13;
    flags = numbers > 0;
    spectrum = numbers + std::complex<double>(0, 1) * weights;
    matrix = sn::reshape(numbers, {8, 8}) + 10.0 * sn::eye(8, {.device = d});
    sides = sn::reshape(weights(slice(0, 24)), {8, 3}) * 1.0;
    row = weights(slice(0, 3)) * 1.0;
    positive = matrix + matrix.mT();
    sn::eval(numbers, weights, keys, flags, spectrum, matrix, sides, row, positive);
    if (!factored) return;
    factors = sn::linalg::lu_factor(matrix);
    sn::eval(factors.lu, factors.piv);
  }
};

struct family {
  std::string name;
  std::function<ndarray(const inputs&)> call;
};

/// On the CPU, whose libraries the simulated GPU uses too; nothing where one is missing.
std::optional<ndarray> expected_of(const family& f, bool factored) {
  try {
    return f.call(inputs(sn::cpu, factored)).copy();
  } catch (const sn::device_error& e) {
    MESSAGE("left out: " << e.what());
    return std::nullopt;
  }
}

void check_no_waits(const std::vector<family>& families, bool factored = false) {
  const sn::device d = sim::first();
  for (const family& f : families) {
    CAPTURE(f.name);
    const auto expected = expected_of(f, factored);
    for (std::uint64_t seed = 0; expected && seed < 4; ++seed) {
      CAPTURE(seed);
      sn::synchronize(d);
      sn::memory_pool(d).trim();  // blocks of other cases come with the record of who worked there
      sim::set_order(seed, seed % 2 == 0);
      const inputs in(d, factored);
      const auto streams = some_streams(d, 3);
      std::vector<ndarray> results;
      for (int round = 0; round < 4; ++round) {
        if (round == 1) (void)sim::take_tally();  // each stream has waited for the inputs
        for (const sn::stream& s : streams) {
          const sn::stream_guard on(s);
          results.push_back(f.call(in));
          sn::eval(results.back());
        }
      }
      const sim::tally t = sim::take_tally();
      CHECK(t.waits == 0);
      CHECK(t.events == 0);
      for (const ndarray& r : results) CHECK(sn::array_equal(r.to_device(sn::cpu), *expected));
    }
  }
}

}  // namespace

TEST_CASE("streams that sort, scan, count or select from one array do not wait for each other") {
  check_no_waits({
      {"sort", [](const inputs& in) { return sn::sort(in.numbers); }},
      {"argsort", [](const inputs& in) { return sn::argsort(in.numbers); }},
      {"lexsort",
       [](const inputs& in) {
         return sn::lexsort({in.numbers, in.keys});
       }},
      {"topk", [](const inputs& in) { return sn::topk(in.numbers, 5).indices; }},
      {"unique_values", [](const inputs& in) { return sn::unique_values(in.keys); }},
      {"cumsum", [](const inputs& in) { return sn::cumsum(in.numbers); }},
      {"bincount", [](const inputs& in) { return sn::bincount(in.keys); }},
      {"bincount of weights", [](const inputs& in) { return sn::bincount(in.keys, {.weights = in.weights}); }},
      {"histogram",
       [](const inputs& in) {
         return sn::histogram(in.numbers, 5, {.range = {-1, 1}}).hist;
       }},
      {"x[flags]", [](const inputs& in) { return in.numbers(in.flags).copy(); }},
      {"nonzero", [](const inputs& in) { return sn::nonzero(in.flags)[0]; }},
  });
}

TEST_CASE("streams that multiply or transform one array do not wait for each other") {
  check_no_waits({
      {"matmul", [](const inputs& in) { return sn::matmul(in.matrix, in.sides); }},
      {"matmul of integers",
       [](const inputs& in) {
         const ndarray m = sn::reshape(in.keys, {8, 8});
         return sn::matmul(m, m);
       }},
      {"matmul with a bias", [](const inputs& in) { return sn::matmul(in.matrix, in.sides, {.bias = in.row}); }},
      {"fft", [](const inputs& in) { return sn::fft::fft(in.spectrum); }},
      {"rfft", [](const inputs& in) { return sn::fft::rfft(in.numbers); }},
      {"irfft", [](const inputs& in) { return sn::fft::irfft(in.spectrum); }},
      {"fft of the first axis",
       [](const inputs& in) {
         return sn::fft::fft(sn::reshape(in.spectrum, {8, 8}), {.axis = 0});
       }},
  });
}

TEST_CASE("streams that factor one matrix or solve with it do not wait for each other") {
  check_no_waits({
      {"cholesky", [](const inputs& in) { return sn::linalg::cholesky(in.positive); }},
      {"qr", [](const inputs& in) { return sn::linalg::qr(in.matrix).r; }},
      {"svdvals", [](const inputs& in) { return sn::linalg::svdvals(in.matrix); }},
      {"eigvalsh", [](const inputs& in) { return sn::linalg::eigvalsh(in.positive); }},
      {"eigvals", [](const inputs& in) { return sn::linalg::eigvals(in.matrix); }},
      {"solve", [](const inputs& in) { return sn::linalg::solve(in.matrix, in.sides); }},
      {"solve_triangular", [](const inputs& in) { return sn::linalg::solve_triangular(in.matrix, in.sides); }},
  });
  const bool factored = true;
  check_no_waits({{"lu_solve", [](const inputs& in) { return sn::linalg::lu_solve(in.factors, in.sides); }}}, factored);
}

TEST_CASE("streams whose kernels index one array do not wait for each other") {
  check_no_waits({
      {"raw input",
       [](const inputs& in) {
         const sn::elementwise_kernel reverse("raw T x, int64 k", "T z", "z = x[63 - k]", "reverse");
         return reverse(in.numbers, sn::arange(64, {.device = in.numbers.device()}));
       }},
      {"raw input and raw output",
       [](const inputs& in) {
         const sn::elementwise_kernel reverse("raw T x", "raw T z", "z[i] = x[n - 1 - i]", "reverse_into");
         const ndarray z = sn::zeros_like(in.numbers);
         reverse(in.numbers, {.size = 64, .out = {z}});
         return z;
       }},
  });
}

TEST_CASE("a write outside of submissions is waited for by a stream that has waited for the writer's stream before") {
  namespace runtime = sinter::runtime;
  const sn::device d = sim::first();
  runtime::backend& gpu = runtime::get_backend({runtime::device_kind::cuda, d.index});
  const sn::stream a({.device = d}), b({.device = d}), c({.device = d});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_order(seed, seed % 2 == 0);
    // Other values each time: memory is used again, and what is left in it must not look right.
    const auto add = static_cast<std::int64_t>(seed) * 100;
    const ndarray x = ramp(64, d) + add;
    const auto* const from = x.data<std::int64_t>();
    std::vector<std::int64_t> got(64);
    std::unique_ptr<runtime::buffer> written, first, second;
    ndarray early;
    {
      const sn::stream_guard on(b);
      written = std::make_unique<runtime::buffer>(gpu, 512);
      early = x + 1;
      sn::eval(early);
    }
    {
      const sn::stream_guard on(a);
      first = std::make_unique<runtime::buffer>(gpu, 512);
    }
    const sn::stream_guard on(c);
    second = std::make_unique<runtime::buffer>(gpu, 512);
    const ndarray later = early * 2;
    sn::eval(later);  // c waits for b
    {
      const sn::stream_guard writing(b);
      gpu.copy(written->data(), from, 512);
    }
    {
      const sn::stream_guard reading(a);
      gpu.copy(first->data(), written->data_to_read(), 512);  // a waits for b, and what b has written has a value
    }
    (void)sim::take_tally();
    gpu.copy(second->data(), written->data_to_read(), 512);
    CHECK(sim::take_tally().waits >= 1);
    gpu.copy_to_host(got.data(), second->data_to_read(), 512);
    std::vector<std::int64_t> expected = counting(64);
    for (std::int64_t& e : expected) e += add;
    CHECK(got == expected);
  }
}
