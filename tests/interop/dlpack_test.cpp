// DLPack: what is exported, what is imported, the ownership of tensors, and invalid tensors.
#include <doctest/doctest.h>

#include <complex>
#include <cstddef>

#include "golden/golden.hpp"
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define SINTER_TEST_DLPACK_HEADER 1
#endif

namespace {

using namespace sinter;
using namespace sinter::idx;

/// A tensor of a producer that counts what happens to it.
struct producer {
  double elements[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int deleted = 0;
  dlpack::managed_tensor_versioned versioned{};
  dlpack::managed_tensor legacy{};

  producer() {
    dlpack::tensor& t = versioned.dl_tensor;
    t = {elements, {dlpack::on_cpu, 0}, 2, {dlpack::type_code::floating, 64, 1}, shape, strides, 0};
    versioned.version = {1, 0};
    versioned.manager_ctx = legacy.manager_ctx = this;
    versioned.deleter = [](dlpack::managed_tensor_versioned* v) { ++static_cast<producer*>(v->manager_ctx)->deleted; };
    legacy.deleter = [](dlpack::managed_tensor* v) { ++static_cast<producer*>(v->manager_ctx)->deleted; };
    legacy.dl_tensor = t;
  }
  producer(const producer&) = delete;
  DLManagedTensorVersioned* give() { return dlpack::give(&versioned); }
  DLManagedTensor* give_legacy() {
    legacy.dl_tensor = versioned.dl_tensor;
    return dlpack::give(&legacy);
  }
};

bool is_cpu_tensor(const dlpack::tensor& t) { return t.device.type == dlpack::on_cpu && t.device.id == 0; }

}  // namespace

#ifdef SINTER_TEST_DLPACK_HEADER
TEST_CASE("the layout is that of dlpack.h") {
  static_assert(sizeof(DLTensor) == sizeof(dlpack::tensor) &&
                sizeof(DLManagedTensor) == sizeof(dlpack::managed_tensor));
  static_assert(offsetof(DLTensor, dtype) == offsetof(dlpack::tensor, dtype) &&
                offsetof(DLTensor, shape) == offsetof(dlpack::tensor, shape));
  static_assert(offsetof(DLTensor, byte_offset) == offsetof(dlpack::tensor, byte_offset));
  static_assert(offsetof(DLManagedTensor, deleter) == offsetof(dlpack::managed_tensor, deleter));
  static_assert(kDLCPU == dlpack::on_cpu && kDLFloat == static_cast<int>(dlpack::type_code::floating));
  const dlpack_legacy_ptr t = to_dlpack_legacy(arange(3, {.dtype = int16, .device = cpu}));
  CHECK(t->dl_tensor.shape[0] == 3);
  CHECK(t->dl_tensor.dtype.bits == 16);
  CHECK(static_cast<const std::int16_t*>(t->dl_tensor.data)[2] == 2);
}
#endif

TEST_CASE("an exported array says what it is, and shares its memory") {
  ndarray x = reshape(arange(6, {.dtype = float32, .device = cpu}), {2, 3}) + 0;
  dlpack_ptr held = to_dlpack(x);
  const dlpack::managed_tensor_versioned& m = *dlpack::view(held.get());
  CHECK(m.version.major == 1);
  CHECK(m.flags == 0);
  const dlpack::tensor& t = m.dl_tensor;
  CHECK(is_cpu_tensor(t));
  CHECK(t.ndim == 2);
  CHECK((t.dtype.code == dlpack::type_code::floating && t.dtype.bits == 32 && t.dtype.lanes == 1));
  CHECK((t.shape[0] == 2 && t.shape[1] == 3 && t.strides[0] == 3 && t.strides[1] == 1));
  CHECK(t.byte_offset == 0);
  auto* const p = static_cast<float*>(t.data);
  CHECK(p[5] == 5);
  p[5] = 50;
  CHECK(x(1, 2).item<float>() == 50);
  x(0) = 9;
  CHECK(p[1] == 9);
  x = ndarray();  // the tensor keeps the memory
  p[0] = 1;
  CHECK(p[1] == 9);
}

TEST_CASE("every dtype goes out and comes back, versioned and legacy") {
  for (int k = 0; k < dtype_count; ++k) {
    const auto type = static_cast<dtype>(k);
    CAPTURE(type);
    const ndarray x = (arange(12, {.device = cpu}) % 2).astype(type);
    const ndarray y = from_dlpack(to_dlpack(x)), z = from_dlpack(to_dlpack_legacy(x));
    CHECK(y.dtype() == type);
    CHECK(z.dtype() == type);
    CHECK(test::download(y).bytes == test::download(x).bytes);
    CHECK(test::download(z).bytes == test::download(x).bytes);
  }
}

TEST_CASE("views go out with their strides and come back as they were") {
  const ndarray x = reshape(arange(24, {.device = cpu}), {2, 3, 4});
  for (const ndarray& v : {ndarray(x.T()), ndarray(x(_, slice(_, _, -2), 1)), ndarray(x(1, 2, 3)),
                           ndarray(x(_, newaxis)), ndarray(x(slice(0, 0)))}) {
    const ndarray back = from_dlpack(to_dlpack(v));
    CHECK(back.shape() == v.shape());
    CHECK(back.to_vector<int>() == v.to_vector<int>());
    if (v.size() > 0) CHECK(back.strides() == v.strides());
  }
  from_dlpack(to_dlpack(x(1, 2)))(3) = 99;
  CHECK(x(1, 2, 3).item<int>() == 99);
}

TEST_CASE("read-only arrays say so, where the form can") {
  const ndarray x = broadcast_to(arange(3, {.device = cpu}), {2, 3});
  dlpack_ptr t = to_dlpack(x);
  CHECK(dlpack::view(t.get())->flags == dlpack::flag_read_only);
  const ndarray back = from_dlpack(std::move(t));
  CHECK(back.to_vector<int>() == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK_THROWS_AS(back(0) = 1, value_error);
  CHECK_THROWS_AS(to_dlpack_legacy(x), value_error);
  const ndarray copy = from_dlpack(to_dlpack_legacy(x, {.copy = true}));
  copy(0) = 5;
  CHECK(copy.to_vector<int>() == std::vector<int>{5, 5, 5, 0, 1, 2});
  CHECK(x(0, 1).item<int>() == 1);
}

TEST_CASE("an exported copy is the consumer's own, and says so") {
  ndarray x = arange(3, {.device = cpu});
  dlpack_ptr t = to_dlpack(x, {.copy = true});
  CHECK(dlpack::view(t.get())->flags == dlpack::flag_is_copied);
  static_cast<std::int64_t*>(dlpack::view(t.get())->dl_tensor.data)[0] = 7;
  x(1) = 8;
  CHECK(x.to_vector<int>() == std::vector<int>{0, 8, 2});
  const ndarray y = from_dlpack(std::move(t));
  CHECK(y.to_vector<int>() == std::vector<int>{7, 1, 2});
  ndarray z = y + 1;
  y(_) = 0;
  CHECK(z.to_vector<int>() == std::vector<int>{8, 2, 3});
}

TEST_CASE("streams are refused where there are none") {
  const ndarray x = arange(3, {.device = cpu});
  CHECK_THROWS_AS(to_dlpack(x, {.stream = 1}), value_error);
  CHECK_THROWS_AS(to_dlpack_legacy(x, {.stream = -1}), value_error);
  CHECK_FALSE(dlpack_stream(cpu).has_value());
  CHECK(dlpack_device(x).type == dlpack::on_cpu);
}

TEST_CASE("a tensor is taken over: seen live, deleted once when nothing refers to it") {
  producer p;
  {
    ndarray x = from_dlpack(p.give());
    CHECK(x.shape() == shape_t{2, 3});
    CHECK(x.dtype() == float64);
    p.elements[4] = 40;
    CHECK(x(1, 1).item<double>() == 40);
    x(0) = -1;
    CHECK(p.elements[2] == -1);
    const ndarray later = x + 1, row = x(1);
    p.elements[5] = 99;
    CHECK(later(1, 2).item<double>() == 6);
    x = ndarray();
    CHECK(p.deleted == 0);
    CHECK(row(2).item<double>() == 99);
  }
  CHECK(p.deleted == 1);
  {
    const ndarray x = from_dlpack(p.give_legacy());
    CHECK(p.deleted == 1);
  }
  CHECK(p.deleted == 2);
  p.versioned.deleter = nullptr;
  CHECK(from_dlpack(p.give()).size() == 6);
}

TEST_CASE("flags of a tensor: read-only, a copy of its own; and promises of the caller") {
  producer p;
  p.versioned.flags = dlpack::flag_read_only;
  const ndarray x = from_dlpack(p.give());
  CHECK_THROWS_AS(x(0) = 1, value_error);
  p.elements[0] = 10;
  CHECK(x(0, 0).item<double>() == 10);
  p.versioned.flags = dlpack::flag_is_copied;
  ndarray y = from_dlpack(p.give());
  y(0) = 1;
  CHECK(y.to_vector<double>() == std::vector<double>{1, 1, 1, 3, 4, 5});
  p.versioned.flags = 0;
  const ndarray z = from_dlpack(p.give(), {.immutable = true});
  CHECK(z.host<double>().data() == p.elements);
  CHECK_THROWS_AS(z(0) = 1, value_error);
}

TEST_CASE("a copy lets the tensor go at once") {
  for (const std::uint64_t flags : {std::uint64_t{0}, dlpack::flag_is_copied, dlpack::flag_read_only}) {
    producer p;
    p.versioned.flags = flags;
    const ndarray x = from_dlpack(p.give(), {.copy = true, .immutable = flags == 0});
    CHECK(p.deleted == 1);
    p.elements[0] = 70;
    CHECK(x(0, 0).item<double>() == 0);
    x(0, 1) = 5;
    CHECK(p.elements[1] == 1);
  }
}

TEST_CASE("strides, offsets and empty tensors") {
  producer p;
  p.versioned.dl_tensor.strides = nullptr;
  CHECK(from_dlpack(p.give())(1, 0).item<double>() == 3);
  p.versioned.dl_tensor.byte_offset = 16;
  p.versioned.dl_tensor.ndim = 1;
  CHECK(from_dlpack(p.give()).to_vector<double>() == std::vector<double>{2, 3});
  p.versioned.dl_tensor.ndim = 0;
  p.versioned.dl_tensor.shape = nullptr;
  CHECK(from_dlpack(p.give()).item<double>() == 2);
  producer q;
  q.shape[1] = 0;
  q.versioned.dl_tensor.data = nullptr;
  const ndarray none = from_dlpack(q.give());
  CHECK(none.shape() == shape_t{2, 0});
  CHECK(q.deleted == 1);
  producer r;
  r.strides[0] = -3;
  r.versioned.dl_tensor.byte_offset = 24;
  CHECK(from_dlpack(r.give()).to_vector<double>() == std::vector<double>{3, 4, 5, 0, 1, 2});
}

TEST_CASE("tensors that make no sense are refused and stay the caller's") {
  const auto refused = [](auto&& change, auto error, const from_dlpack_kw& kw = {}) {
    producer p;
    change(p.versioned);
    CHECK_THROWS_AS(from_dlpack(p.give(), kw), decltype(error));
    CHECK(p.deleted == 0);
  };
  using tensor = dlpack::managed_tensor_versioned;
  const value_error value("");
  const dtype_error type("");
  const device_error device("");
  const shape_error shape("");
  refused([](tensor& t) { t.version.major = 2; }, value);
  refused([](tensor& t) { t.version.major = 0; }, value);
  refused([](tensor& t) { t.dl_tensor.ndim = -1; }, value);
  refused([](tensor& t) { t.dl_tensor.ndim = 65; }, value);
  refused([](tensor& t) { t.dl_tensor.shape = nullptr; }, value);
  refused([](tensor& t) { t.dl_tensor.data = nullptr; }, value);
  refused([](tensor& t) { t.dl_tensor.byte_offset = 4; }, value);
  refused([](tensor& t) { t.dl_tensor.shape[0] = -2; }, shape);
  refused([](tensor& t) { t.dl_tensor.shape[0] = t.dl_tensor.shape[1] = std::int64_t{1} << 40; }, shape);
  refused([](tensor& t) { t.dl_tensor.strides[0] = std::int64_t{1} << 62; }, value);
  refused([](tensor& t) { t.dl_tensor.dtype.lanes = 2; }, type);
  refused([](tensor& t) { t.dl_tensor.dtype.lanes = 0; }, type);
  refused([](tensor& t) { t.dl_tensor.dtype.bits = 128; }, type);
  refused([](tensor& t) { t.dl_tensor.dtype.bits = 4; }, type);
  refused([](tensor& t) { t.dl_tensor.dtype.code = dlpack::type_code{3}; }, type);
  refused([](tensor& t) { t.dl_tensor.dtype.code = dlpack::type_code{17}; }, type);
  refused([](tensor& t) { t.dl_tensor.device.type = 10; }, device);
  refused([](tensor& t) { t.dl_tensor.device = {dlpack::on_cuda, 99}; }, device);
  refused([](tensor& t) { t.dl_tensor.device = {dlpack::on_cuda, -1}; }, device);
  refused([](tensor&) {}, device, {.device = cuda(99)});
  refused([](tensor&) {}, value, {.copy = false, .device = cuda(99)});
  CHECK_THROWS_AS(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), value_error);
  CHECK_THROWS_AS(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), value_error);
  CHECK_THROWS_AS(to_dlpack(ndarray()), value_error);
  producer p;
  p.versioned.version.major = 7;
  CHECK_THROWS_AS(from_dlpack(dlpack_ptr(p.give())), value_error);
  CHECK(p.deleted == 1);  // given as an owner: deleted by it
}

TEST_CASE("an unshared view that is exported keeps others' elements") {
  ndarray x = arange(4, {.device = cpu});
  const ndarray before = x.copy();
  dlpack_ptr t = to_dlpack(x);
  static_cast<std::int64_t*>(dlpack::view(t.get())->dl_tensor.data)[0] = 77;
  CHECK(before(0).item<int>() == 0);
  CHECK(x(0).item<int>() == 77);
}
