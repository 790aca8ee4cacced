// Pinned and managed memory between libraries: the types of tensors, which stream waits for which, and views for code
// on the host, which reach such memory without a copy. On simulated GPUs.
#include <doctest/doctest.h>

#include <optional>

#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;
using sinter::memory_kind;

namespace {

constexpr std::int64_t n = 64;

const sn::dlpack::tensor& tensor_of(const sn::dlpack_ptr& t) { return sn::dlpack::view(t.get())->dl_tensor; }
bool is_on(const sn::dlpack::device_info& d, std::int32_t type, int id) { return d.type == type && d.id == id; }
list elements_at(const void* p) {
  const auto* first = static_cast<const std::int64_t*>(p);
  return list(first, first + n);
}

/// Multiples in memory of a kind, enqueued and not waited for.
ndarray made_in(memory_kind kind, const sn::device& d, std::int64_t scale) {
  const sn::memory_scope scope(kind, d);
  const ndarray x = sn::arange(n, {.device = d}) * scale;
  sn::eval(x);
  return x;
}

/// A producer of n elements in memory of a type; its deleter passes the memory to code that writes there at once.
struct producer {
  list elements = counting(n, 2);
  std::int64_t shape[1] = {n};
  int deleted = 0;
  sn::dlpack::managed_tensor_versioned tensor{};

  producer(std::int32_t type, int id) {
    tensor.version = {1, 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](sn::dlpack::managed_tensor_versioned* t) {
      auto* const self = static_cast<producer*>(t->manager_ctx);
      ++self->deleted;
      self->elements.assign(n, -1);
    };
    tensor.dl_tensor = {elements.data(), {type, id}, 1, {sn::dlpack::type_code::integer, 64, 1}, shape, nullptr, 0};
  }
  producer(const producer&) = delete;
  DLManagedTensorVersioned* give() { return sn::dlpack::give(&tensor); }
};

}  // namespace

TEST_CASE("arrays in pinned and managed memory say so, and without a stream the host finds the elements there") {
  const sn::device d = sim::first();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    sim::set_order(seed);
    const auto scale = static_cast<std::int64_t>(seed + 3);  // memory that is used again holds other values
    const ndarray pinned = made_in(memory_kind::pinned, d, scale),
                  managed = made_in(memory_kind::managed, d, scale + 1);
    CHECK(is_on(sn::dlpack_device(pinned), sn::dlpack::on_cuda_host, 0));
    CHECK(is_on(sn::dlpack_device(managed), sn::dlpack::on_cuda_managed, d.index));
    const sn::dlpack_ptr p = sn::to_dlpack(pinned);
    CHECK(is_on(tensor_of(p).device, sn::dlpack::on_cuda_host, 0));
    CHECK(elements_at(tensor_of(p).data) == counting(n, scale));
    const sn::dlpack_legacy_ptr m = sn::to_dlpack_legacy(managed);
    CHECK(is_on(sn::dlpack::view(m.get())->dl_tensor.device, sn::dlpack::on_cuda_managed, d.index));
    CHECK(elements_at(sn::dlpack::view(m.get())->dl_tensor.data) == counting(n, scale + 1));
  }
  CHECK(is_on(sn::dlpack_device(sn::arange(3, {.device = d})), sn::dlpack::on_cuda, d.index));
  CHECK(is_on(sn::dlpack_device(sn::arange(3, {.device = sn::cpu})), sn::dlpack::on_cpu, 0));
}

TEST_CASE("a stream of a consumer is held for managed and pinned memory too, not the host") {
  const sn::device d = sim::first();
  const sn::stream b({.device = d});
  const auto number = reinterpret_cast<std::intptr_t>(b.native_handle());
  for (const memory_kind kind : {memory_kind::managed, memory_kind::pinned})
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      sim::set_order(seed);
      const auto scale = static_cast<std::int64_t>(seed + 4);  // memory that is used again holds other values
      const ndarray x = made_in(kind, d, scale);
      (void)sim::take_tally();
      const sn::dlpack_ptr t = sn::to_dlpack(x, {.stream = number});
      list seen(n);
      {
        const sn::stream_guard on(b);
        sinter::runtime::get_backend({sinter::runtime::device_kind::cuda, d.index})
            .copy(seen.data(), tensor_of(t).data, n * sizeof(std::int64_t));
      }
      CHECK(sim::take_tally().host_waits == 0);
      b.synchronize();
      CHECK(seen == counting(n, scale));
    }
}

TEST_CASE("a device that is asked for by name gives the type of that name, without a copy") {
  const sn::device d = sim::first();
  const ndarray managed = made_in(memory_kind::managed, d, 2), pinned = made_in(memory_kind::pinned, sn::cpu, 2);
  const sn::dlpack_ptr as_is = sn::to_dlpack(managed), plain = sn::to_dlpack(managed, {.device = d});
  CHECK(is_on(tensor_of(plain).device, sn::dlpack::on_cuda, d.index));
  CHECK(tensor_of(plain).data == tensor_of(as_is).data);
  CHECK(sn::dlpack::view(plain.get())->flags == 0);
  const sn::dlpack_ptr host = sn::to_dlpack(pinned), cpu = sn::to_dlpack(pinned, {.copy = false, .device = sn::cpu});
  CHECK(is_on(tensor_of(host).device, sn::dlpack::on_cuda_host, 0));
  CHECK(is_on(tensor_of(cpu).device, sn::dlpack::on_cpu, 0));
  CHECK(tensor_of(cpu).data == tensor_of(host).data);
  const sn::dlpack_ptr moved = sn::to_dlpack(managed, {.device = sn::cpu});
  CHECK(is_on(tensor_of(moved).device, sn::dlpack::on_cpu, 0));
  CHECK(tensor_of(moved).data != tensor_of(as_is).data);
  CHECK(elements_at(tensor_of(moved).data) == counting(n, 2));
}

TEST_CASE("a pinned array of the CPU goes out when the copy to it is done") {
  const sn::device d = sim::first();
  const sn::stream copies({.device = d});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    sim::set_order(seed);
    const auto scale = static_cast<std::int64_t>(seed + 9);
    const ndarray x = (sn::arange(n, {.device = d}) * scale).to_host(copies);
    CHECK(sim::queued() > 0);
    const sn::dlpack_ptr t = sn::to_dlpack(x);
    CHECK(is_on(tensor_of(t).device, sn::dlpack::on_cuda_host, 0));
    CHECK(elements_at(tensor_of(t).data) == counting(n, scale));
  }
}

TEST_CASE("pinned tensors come in as pinned arrays of the CPU, whose copies run beside the host and are waited for") {
  const sn::device d = sim::first();
  // Blocks of other cases may still be read by copies, for which the next write there would wait.
  sn::pinned_pool(sn::cpu).trim();
  const sn::stream copies({.device = d});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed);
    producer p(sn::dlpack::on_cuda_host, 0);
    ndarray x = sn::from_dlpack(p.give(), {.immutable = seed % 2 == 0});
    CHECK(x.device() == sn::cpu);
    CHECK(x.memory_kind() == memory_kind::pinned);
    CHECK(values(x) == counting(n, 2));
    (void)sim::take_tally();
    const ndarray there = x.to_device(d, copies);
    CHECK(sim::take_tally().host_waits == 0);
    CHECK(sim::queued() > 0);
    if (seed % 2 == 1) {
      x += 1;
      CHECK(p.elements == counting(n, 2, 1));
    }
    x = ndarray();
    CHECK(p.deleted == 1);
    CHECK(values(there) == counting(n, 2));
  }
}

TEST_CASE("managed tensors come in as managed arrays of the GPU that they name, or that is asked for") {
  const sn::device d = sim::first();
  for (const sn::device& where : {sim::first(), sim::second()}) {
    producer p(sn::dlpack::on_cuda_managed, d.index);
    {
      ndarray x = sn::from_dlpack(p.give(), {.copy = false, .device = where});
      CHECK(x.device() == where);
      CHECK(x.memory_kind() == memory_kind::managed);
      CHECK(x.host_data<std::int64_t>() == p.elements.data());
      x += 1;
      sn::synchronize(where);
      CHECK(p.elements == counting(n, 2, 1));
      sn::prefetch(x, where);
      CHECK(is_on(sn::dlpack_device(x), sn::dlpack::on_cuda_managed, where.index));
    }
    CHECK(p.deleted == 1);
  }
  producer named(sn::dlpack::on_cuda_managed, sim::second().index), missing(sn::dlpack::on_cuda_managed, 61);
  CHECK(sn::from_dlpack(named.give()).device() == sim::second());
  CHECK_THROWS_AS((void)sn::from_dlpack(missing.give()), sn::device_error);
  CHECK(missing.deleted == 0);
  producer moved(sn::dlpack::on_cuda_managed, d.index);
  const ndarray here = sn::from_dlpack(moved.give(), {.device = sn::cpu});
  CHECK(here.device() == sn::cpu);
  CHECK(moved.deleted == 1);
  CHECK(values(here) == counting(n, 2));
  const ndarray managed = made_in(memory_kind::managed, d, 6);
  const ndarray back = sn::from_dlpack(sn::to_dlpack(managed));
  CHECK(back.device() == d);
  CHECK(back.memory_kind() == memory_kind::managed);
  CHECK(back.host_data<std::int64_t>() == managed.host_data<std::int64_t>());
}

TEST_CASE("from_pointer: memory is of the kind that the caller says") {
  const sn::device d = sim::first();
  list memory = counting(n, 3);
  {
    const ndarray x = sn::from_pointer(memory.data(), {n}, {.device = d});
    CHECK(x.memory_kind() == memory_kind::device);
    CHECK_THROWS_AS((void)x.host_data<std::int64_t>(), sn::value_error);
    ndarray y = sn::from_pointer(memory.data(), {n}, {.device = d, .kind = memory_kind::managed});
    CHECK(y.memory_kind() == memory_kind::managed);
    CHECK(y.host_data<std::int64_t>() == memory.data());
    y(0) = 100;
    CHECK(y.memory_kind() == memory_kind::managed);
    sn::synchronize(d);
    CHECK(memory[0] == 100);
  }
  const ndarray pinned = sn::from_pointer(memory.data(), {n}, {.kind = memory_kind::pinned});
  (void)sim::take_tally();
  const ndarray there = pinned.to_device(d);
  CHECK(sim::take_tally().host_waits == 0);
  CHECK(values(there)[1] == 3);
  int calls = 0;
  CHECK_THROWS_AS(
      (void)sn::from_pointer(memory.data(), {n}, {.kind = memory_kind::managed, .deleter = [&](void*) { ++calls; }}),
      sn::device_error);
  CHECK(calls == 0);
}

TEST_CASE("host_mdview to write: the same bytes as host_data, of managed and pinned arrays") {
  const sn::device d = sim::first();
  sim::set_order(5);
  for (const memory_kind kind : {memory_kind::managed, memory_kind::pinned}) {
    ndarray x = sn::reshape(made_in(kind, d, 1), {8, 8});
    x += 2;
    const sn::host_mdview<std::int64_t, 2> turned(x.T());
    CHECK(turned.data_handle() == x.host_data<std::int64_t>());
    CHECK(turned(3, 1) == 8 + 3 + 2);
    turned(3, 1) = -1;
    CHECK(x(1, 3).item<std::int64_t>() == -1);
    x += 1;
    sn::synchronize(d);
    CHECK(turned(3, 1) == 0);
    CHECK(x.memory_kind() == kind);
  }
  const ndarray y = sn::arange(n, {.device = d}) + 0;
  CHECK(message_of<sn::device_error>([&] {
          (void)sn::host_mdview<std::int64_t, 1>(y);
        }).find("[host_mdview] the array lies in the memory of cuda:63") == 0);
}

TEST_CASE("host_mdview to read: no copy where the host may look beside the GPU, and a picture all the same") {
  struct place {
    memory_kind kind;
    sn::device device;
    bool shared;
  };
  // The second simulated GPU has concurrent managed access.
  for (const place& p :
       {place{memory_kind::pinned, sim::first(), true}, place{memory_kind::managed, sim::first(), false},
        place{memory_kind::managed, sim::second(), true}, place{memory_kind::device, sim::first(), false}}) {
    CAPTURE(sn::name(p.kind));
    CAPTURE(p.device);
    sim::set_order(7);
    ndarray x = made_in(p.kind, p.device, 3);
    const ndarray same = x.copy();
    const sn::host_mdview<const std::int64_t, 1> view(x);
    CHECK(elements_at(view.data_handle()) == counting(n, 3));
    x += 1;
    x(0) = 500;
    sn::eval(x);
    sn::synchronize(p.device);
    CHECK(elements_at(view.data_handle()) == counting(n, 3));
    CHECK(values(x)[2] == 7);
    CHECK(x.memory_kind() == p.kind);
    CHECK(sn::host_mdview<const double, 1>(x)(2) == 7.0);
    if (p.kind != memory_kind::device)
      CHECK((same.host_data<std::int64_t>() == view.data_handle()) == false);  // another reference holds those
    const ndarray fresh = made_in(p.kind, p.device, 4);
    std::optional<sn::host_mdview<const std::int64_t, 1>> seen(fresh);
    const void* const at = seen->data_handle();
    const auto copied = fresh.host<std::int64_t>();
    CHECK((copied.data() == at) == (p.kind == memory_kind::pinned));
    seen.reset();
    if (p.kind == memory_kind::pinned) continue;  // the other view still holds the elements
    if (p.kind != memory_kind::device) CHECK((fresh.host_data<std::int64_t>() == at) == p.shared);
  }
}
