// The code of docs/interop.md: every line of it is in this file, and does what the page says.
#include <doctest/doctest.h>

#include <span>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/simulated_gpu.hpp"
#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#define SINTER_TEST_EIGEN 1
#endif

namespace sn = sinter;

TEST_CASE("interop docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("interop.md", "docs/interop_test.cpp", 6);
}

TEST_CASE("interop docs: memory of others") {
  // clang-format off
  std::vector<float> samples(12, 1.0f);
  sn::ndarray x = sn::from_pointer(samples.data(), {3, 4});                  // no copy
  x(0) = 5;                                                                  // samples[0] to samples[3] are 5
  sn::ndarray columns = sn::from_pointer(samples.data(), {4, 3}, {.strides = {4, 16}});  // bytes, as in NumPy
  // clang-format on
  CHECK(samples == std::vector<float>{5, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(columns(3, 0).item<float>() == 5);
  // clang-format off
  struct particle { double x, y, mass; };
  std::vector<particle> all(100);
  sn::ndarray y = sn::from_pointer(&all[0].y, {100}, {.strides = {sizeof(particle)}});
  y(sn::idx::_) = sn::linspace(0, 1, 100, {.device = sn::cpu});
  // clang-format on
  CHECK(all[99].y == 1);
  CHECK(all[99].mass == 0);
}

TEST_CASE("interop docs: elements for other code, Eigen") {
  std::vector<float> samples(12, 1.0f);
  const sn::ndarray x = sn::from_pointer(samples.data(), {3, 4});
  // clang-format off
  sn::ndarray a = sn::reshape(sn::arange(6, {.dtype = sn::float64, .device = sn::cpu}), {2, 3});
  float* raw = x.data<float>();                          // the array's own memory: device memory on a GPU
  const auto seen = a.host<double>();                    // read-only, C order, on the host, from any device
  std::span<const double> flat(seen);
  const sn::host_mdview<const double, 2> m(a.T());       // read-only, by coordinates
  const sn::host_mdview<double, 2> w(a);                 // to write: the array's own elements
  w(1, 2) = m(0, 1) + flat[5];
  // clang-format on
  CHECK(raw == samples.data());
  CHECK(a.to_vector<double>() == std::vector<double>{0, 1, 2, 3, 4, 8});
#ifdef SINTER_TEST_EIGEN
  // clang-format off
  Eigen::MatrixXd e = Eigen::MatrixXd::Random(3, 4);     // column-major
  sn::ndarray v = sn::from_pointer(e.data(), {e.rows(), e.cols()}, {.strides = {8, 8 * e.rows()}});
  v *= 2;                                                // changes e

  using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<row_major> of_a(a.data<double>(), a.shape(0), a.shape(1));   // a is on the CPU, in C order
  Eigen::MatrixXd product = of_a * e;
  const auto held = sn::sum(a, 0).host<double>();        // or from any device: keep the view while the map is used
  const Eigen::Map<const Eigen::VectorXd> sums(held.data(), held.size());
  // clang-format on
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(v(i, j).item<double>() == e(i, j));
  CHECK(product(1, 2) == doctest::Approx(3 * e(0, 2) + 4 * e(1, 2) + 8 * e(2, 2)));
  CHECK(sums(2) == 10);
#else
  MESSAGE("left out: Eigen (libeigen3-dev) is not installed");
#endif
}

TEST_CASE("interop docs: DLPack") {
  std::vector<float> samples(4, 1.0f);
  const sn::ndarray x = sn::from_pointer(samples.data(), {4});
  // clang-format off
  sn::dlpack_ptr tensor = sn::to_dlpack(x);              // DLManagedTensorVersioned, deleted unless released
  sn::ndarray back = sn::from_dlpack(std::move(tensor)); // the same memory
  back += 1;                                             // changes x
  // clang-format on
  CHECK(x.to_vector<float>() == std::vector<float>(4, 2));
}

TEST_CASE("interop docs: streams") {
  const sn::device_guard there(sim::first());
  sim::set_order(3);
  const sn::ndarray g = sn::arange(10) * 2;
  const sn::stream theirs;
  void* const consumer = theirs.native_handle();
  // clang-format off
  const sn::stream mine;
  const sn::stream_guard on(mine);
  sn::dlpack_ptr out = sn::to_dlpack(g, {.stream = reinterpret_cast<std::intptr_t>(consumer)});  // a cudaStream_t of theirs
  std::optional<std::intptr_t> number = sn::dlpack_stream(g.device());  // of `mine`: for t.__dlpack__(stream=number)
  // clang-format on
  theirs.synchronize();
  CHECK(static_cast<const std::int64_t*>(sn::dlpack::view(out.get())->dl_tensor.data)[9] == 18);
  CHECK(number == reinterpret_cast<std::intptr_t>(mine.native_handle()));
}
