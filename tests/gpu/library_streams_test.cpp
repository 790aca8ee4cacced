// What cuBLAS, cuSOLVER and cuFFT do, on streams and in graphs: their handles and plans are shared by all of them.
#ifdef SINTER_HAS_CUDA

#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/gpu.hpp"
#include "support/message_of.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

std::vector<double> values(const ndarray& x) { return x.to_vector<double>(); }

/// Numbers from -1 to 1 in no simple order, other ones for each `seed`; a matrix of full rank.
ndarray scattered(std::int64_t rows, std::int64_t columns, int seed, sn::dtype type) {
  const ndarray k = sn::arange(rows * columns) + 100 * seed;
  ndarray x = (sn::reshape(k * k % 65521, {rows, columns}) / 32760.5 - 1.0).astype(type);
  sn::eval(x);
  return x;
}

/// Results of each library on separate inputs: products and transforms, then what cuSOLVER does.
constexpr std::size_t of_cusolver = 4, items = 8;
std::vector<std::vector<double>> work(int seed) {
  const ndarray a = scattered(65, 65, seed, sn::float64), b = scattered(65, 33, seed + 1, sn::float64);
  const ndarray regular = a + sn::eye(65) * 70.0, half = a.astype(sn::float32);
  const ndarray counts = sn::floor(a * 9.0).astype(sn::int32);
  std::vector<std::vector<double>> results;
  for (int round = 0; round < 3; ++round) {
    const ndarray product = sn::matmul(a, b), single = sn::matmul(half, half.T()), whole = sn::matmul(counts, counts);
    const ndarray x = sn::linalg::solve(regular, product);
    const auto [q, r] = sn::linalg::qr(a);
    const ndarray lower = sn::linalg::cholesky(sn::matmul(regular, regular.T()));
    const ndarray waves = sn::fft::irfft2(sn::fft::rfft2(a) * 2.0);
    sn::eval(product, single, whole, waves, x, q, r, lower);
    for (const ndarray& y : {product, single, whole, waves, x, q, r, lower}) results.push_back(values(y));
  }
  return results;
}

}  // namespace

// Where several streams are busy, cuBLAS may choose other algorithms (its manual on reproducibility), and cuSOLVER
// calls it with a handle of its own. The products here have workspaces of one size, which fixes the choice.
TEST_CASE("gpu: products and transforms have the same bits on every stream, factorisations the same numbers") {
  if (gpu_test::no_gpu()) return;
  constexpr int threads = 4;
  std::vector<std::vector<std::vector<double>>> expected, found(threads);
  for (int k = 0; k < threads; ++k) expected.push_back(work(k));
  std::vector<std::thread> running;
  for (int k = 0; k < threads; ++k)
    running.emplace_back([&found, k] {
      const sn::stream s({.non_blocking = true});
      const sn::stream_guard on(s);
      found[static_cast<std::size_t>(k)] = work(k);
    });
  for (std::thread& t : running) t.join();
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::size_t item = 0; item < expected[k].size(); ++item) {
      const double allowed = item % items < of_cusolver ? 0 : 1e-10;
      std::size_t wrong = 0;
      for (std::size_t e = 0; e < expected[k][item].size(); ++e)
        wrong += !(std::abs(found[k][item][e] - expected[k][item][e]) <= allowed);
      CAPTURE(k);
      CAPTURE(item);
      CHECK(wrong == 0);
    }
}

TEST_CASE("gpu: a product on one stream is read on another") {
  if (gpu_test::no_gpu()) return;
  const ndarray a = scattered(1500, 1500, 3, sn::float32);
  const std::vector<double> expected = values(sn::matmul(sn::matmul(a, a), a));
  const sn::stream left({.non_blocking = true}), right({.non_blocking = true});
  for (int k = 0; k < 5; ++k) {
    ndarray square, cube;
    {
      const sn::stream_guard on(left);
      square = sn::matmul(a, a);
    }
    {
      const sn::stream_guard on(right);
      cube = sn::matmul(square, a);
    }
    square = ndarray();  // its memory may be reused after the work of `right`
    const sn::stream_guard on(left);
    const ndarray other = sn::matmul(a, a.T());
    CHECK(values(cube) == expected);
  }
}

TEST_CASE("gpu: products and transforms can be captured, and the graph keeps what they need") {
  if (gpu_test::no_gpu()) return;
  ndarray a = scattered(40, 40, 1, sn::float64), counts = sn::floor(a * 9.0).astype(sn::int32),
          x = scattered(40, 40, 2, sn::float64);
  sn::eval(counts);
  ndarray product, whole, waves;
  const sn::launch_graph g = sn::capture([&] {
    product = sn::matmul(a, x) + 1.0;
    whole = sn::matmul(counts, counts);
    waves = sn::fft::irfft(sn::fft::rfft(x));
    x += 1.0;
  });
  sn::fft::clear_plan_cache();
  ndarray now = scattered(40, 40, 2, sn::float64);
  for (int k = 0; k < 3; ++k) {
    g.launch();
    CHECK(values(product) == values(sn::matmul(a, now) + 1.0));
    CHECK(values(whole) == values(sn::matmul(counts, counts)));
    CHECK(values(waves) == values(sn::fft::irfft(sn::fft::rfft(now))));
    now += 1.0;
    sn::fft::clear_plan_cache();
  }
}

TEST_CASE("gpu: factorisations cannot be captured, and say so") {
  if (gpu_test::no_gpu()) return;
  const ndarray a = scattered(20, 20, 1, sn::float64) + sn::eye(20) * 30.0;
  sn::eval(a);
  const std::vector<std::function<void()>> calls{[&] { (void)sn::linalg::solve(a, a); },
                                                 [&] { (void)sn::linalg::qr(a); }, [&] { (void)sn::linalg::svd(a); },
                                                 [&] { (void)sn::linalg::det(a); }};
  for (const auto& call : calls) {
    const std::string message = sinter_test::message_of<sn::device_error>([&] { (void)sn::capture(call); });
    CHECK_MESSAGE(message.find("cannot be captured") != std::string::npos, message);
  }
  const ndarray left = sn::matmul(a, sn::linalg::inv(a)) - sn::eye(20);
  CHECK(sn::max(sn::abs(left)).item<double>() < 1e-12);
}

#endif
