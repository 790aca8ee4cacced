// Files and shared memory on a GPU: arrays loaded to it and saved from it, foreign memory there, DLPack.
#include "gpu/gpu.hpp"

#include <sstream>

#include "runtime/backend.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

const dlpack::tensor& tensor_of(const dlpack_ptr& t) { return dlpack::view(t.get())->dl_tensor; }

}  // namespace

TEST_CASE("gpu: files are loaded to the GPU in parts, and saved from it") {
  if (gpu_test::no_gpu()) return;
  const sinter_test::scratch_folder folder;
  const std::string path = folder / "x.npy";
  const ndarray x = reshape(arange(5'000'000, {.dtype = float64}) * 0.5, {2500, 2000});
  save(path, x.T());
  const ndarray back = load(path);
  CHECK(back.device() == default_device());
  CHECK(back.strides() == x.T().strides());
  CHECK(array_equal(back, x.T()));
  CHECK(load(path, {.device = cpu}).device() == cpu);
  std::stringstream stream;
  save(stream, x(_, slice(0, 7)));
  CHECK(array_equal(load(stream), x(_, slice(0, 7))));
  const ndarray mapped = load(path, {.mmap_mode = "r"});
  CHECK(mapped.device() == cpu);
  CHECK(array_equal(mapped.to_device(default_device()), x.T()));
  savetxt(folder / "x.txt", x(slice(0, 5)));
  CHECK(array_equal(loadtxt(folder / "x.txt"), x(slice(0, 5))));
}

TEST_CASE("gpu: memory of others is read and written where it lies, and let go when the GPU is done") {
  if (gpu_test::no_gpu()) return;
  const device here = default_device();
  ndarray owner = arange(1'000'000, {.dtype = float32}) + 0;
  float* const p = owner.data<float>();
  int calls = 0;
  {
    ndarray x = from_pointer(p, {1000, 1000}, {.device = here, .deleter = [&](void* q) { calls += q == p ? 1 : 100; }});
    CHECK(x.device() == here);
    const ndarray later = sum(x * 2);
    x(0) = -1;
    owner(1000) = 5.0f;
    CHECK(x(1, 0).item<float>() == 5);
    CHECK(owner(999).item<float>() == -1);
    CHECK(later.item<double>() == doctest::Approx(999'999.0 * 1'000'000));
    x += 1;
    CHECK(calls == 0);
  }
  CHECK(calls == 1);
  CHECK(owner(999'999).item<float>() == 1'000'000.f);
  const ndarray fixed = from_pointer(p, {1'000'000}, {.device = here, .immutable = true});
  const auto before = runtime::get_backend(runtime::default_device()).statistics();
  const ndarray y = fixed * 2 + 1;
  CHECK(runtime::get_backend(runtime::default_device()).statistics().allocations == before.allocations);
  ndarray mine = fixed.copy();
  mine(0) = 77.0f;
  eval(mine, y);
  CHECK(owner(0).item<float>() == 0);
  CHECK(y(2).item<float>() == 1);
}

TEST_CASE("gpu: strided memory of others") {
  if (gpu_test::no_gpu()) return;
  ndarray owner = arange(24, {.dtype = float32}) + 0;
  float* const p = owner.data<float>();
  const ndarray columns = from_pointer(p, {4, 6}, {.strides = {4, 16}, .device = default_device()});
  CHECK(columns(1).to_vector<float>() == std::vector<float>{1, 5, 9, 13, 17, 21});
  ndarray back = from_pointer(p + 23, {24}, {.strides = {-4}, .device = default_device()});
  back(slice(0, 2)) = 100.0f;
  CHECK(owner(slice(21, 24)).to_vector<float>() == std::vector<float>{21, 100, 100});
}

TEST_CASE("gpu: arrays go out as tensors of the GPU and come back without a copy") {
  if (gpu_test::no_gpu()) return;
  const device here = default_device();
  ndarray x = reshape(arange(6, {.dtype = float16}), {2, 3}) + 0;
  dlpack_ptr t = to_dlpack(x);
  CHECK(tensor_of(t).device.type == dlpack::on_cuda);
  CHECK(tensor_of(t).device.id == here.index);
  CHECK(dlpack_device(x).type == dlpack::on_cuda);
  CHECK(dlpack_stream(here).has_value());
  void* const address = tensor_of(t).data;
  ndarray y = from_dlpack(std::move(t));
  CHECK(y.device() == here);
  CHECK(static_cast<void*>(y.data<half>()) == address);
  y += 10;
  CHECK(x.to_vector<float>() == std::vector<float>{10, 11, 12, 13, 14, 15});
  const ndarray turned = from_dlpack(to_dlpack_legacy(x.T()));
  CHECK(turned.to_vector<float>() == std::vector<float>{10, 13, 11, 14, 12, 15});
}

TEST_CASE("gpu: streams of a consumer") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = arange(1000);
  for (const std::intptr_t s : {1, 2, -1}) CHECK(tensor_of(to_dlpack(x + 1, {.stream = s})).shape[0] == 1000);
  CHECK_THROWS_AS(to_dlpack(x, {.stream = 0}), value_error);
  CHECK_THROWS_AS(to_dlpack(x, {.stream = -2}), value_error);
}

TEST_CASE("gpu: tensors for the host, and arrays of the host for the GPU") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = arange(5) * 3;
  const dlpack_ptr t = to_dlpack(x, {.device = cpu});
  CHECK(tensor_of(t).device.type == dlpack::on_cpu);
  CHECK(dlpack::view(t.get())->flags == dlpack::flag_is_copied);
  CHECK(static_cast<const std::int64_t*>(tensor_of(t).data)[4] == 12);
  CHECK_THROWS_AS(to_dlpack(x, {.copy = false, .device = cpu}), value_error);
  const ndarray back = from_dlpack(to_dlpack(arange(5, {.device = cpu})), {.device = default_device()});
  CHECK(back.device() == default_device());
  CHECK(back.to_vector<int>() == std::vector<int>{0, 1, 2, 3, 4});
  CHECK_THROWS_AS(from_dlpack(to_dlpack(arange(5, {.device = cpu})), {.copy = false, .device = default_device()}),
                  value_error);
}

TEST_CASE("gpu: the host sees copies, and does not write") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = reshape(arange(6), {2, 3}).T();
  const host_mdview<const double, 2> v(x);
  CHECK(v(2, 1) == 5);
  CHECK_THROWS_AS((host_mdview<std::int64_t, 2>(x)), device_error);
}
