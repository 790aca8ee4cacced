// DLPack on a GPU, in order: a consumer's stream waits for what computes a tensor and the host does not, what is taken
// from a producer is used after it on every stream, and memory is freed when no work on it is pending. On
// simulated GPUs, where work out of order gives wrong results.
#include <doctest/doctest.h>

#include <memory>
#include <thread>

#include "runtime/backend.hpp"
#include "support/simulated_gpu.hpp"
#include "support/stream_cases.hpp"

using namespace stream_test;

namespace {

constexpr std::int64_t n = 96;
constexpr std::size_t bytes = n * sizeof(std::int64_t);

sinter::runtime::backend& backend_of(const sn::device& d) {
  return sinter::runtime::get_backend({sinter::runtime::device_kind::cuda, d.index});
}
const sn::dlpack::tensor& tensor_of(const sn::dlpack_ptr& t) { return sn::dlpack::view(t.get())->dl_tensor; }
std::intptr_t number_of(const sn::stream& s) { return reinterpret_cast<std::intptr_t>(s.native_handle()); }

/// Foreign work on a stream, which the library does not track: copies elements.
void others_copy(const sn::stream& on, void* to, const void* from) {
  const sn::stream_guard guard(on);
  backend_of(on.device()).copy(to, from, bytes);
}

/// A producer of n elements in memory of a device. Its deleter passes the memory to code that writes there at once.
struct producer {
  list elements = counting(n, 2);
  std::int64_t shape[1] = {n};
  int deleted = 0;
  sn::dlpack::managed_tensor_versioned tensor{};

  explicit producer(sn::dlpack::device_info where) {
    tensor.version = {1, 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](sn::dlpack::managed_tensor_versioned* t) {
      auto* const self = static_cast<producer*>(t->manager_ctx);
      ++self->deleted;
      self->elements.assign(n, -1);
    };
    tensor.dl_tensor = {elements.data(), where, 1, {sn::dlpack::type_code::integer, 64, 1}, shape, nullptr, 0};
  }
  producer(const producer&) = delete;
  DLManagedTensorVersioned* give() { return sn::dlpack::give(&tensor); }
};

sn::dlpack::device_info gpu_of(const sn::device& d) { return {sn::dlpack::on_cuda, d.index}; }

}  // namespace

TEST_CASE("a consumer's stream waits for what computes a tensor; the host does not") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const auto scale = static_cast<std::int64_t>(seed + 3);  // memory that is used again holds other values
    const bool within = seed % 2 == 0;                       // whether the array's stream is the current one
    sim::set_order(seed, seed % 3 == 0);
    ndarray x;
    sn::dlpack_ptr t;
    {
      const sn::stream_guard on(a);
      x = sn::arange(n, {.device = d}) * scale;
      sn::eval(x);
      (void)sim::take_tally();
      if (within) t = sn::to_dlpack(x, {.stream = number_of(b)});
    }
    if (!within) t = sn::to_dlpack(x, {.stream = number_of(b)});
    list seen(n);
    others_copy(b, seen.data(), tensor_of(t).data);
    CHECK(sim::take_tally().host_waits == 0);
    b.synchronize();
    CHECK(seen == counting(n, scale));
  }
}

TEST_CASE("pending expressions are computed for a consumer's stream, in the old form too") {
  const sn::device d = sim::first();
  const sn::stream b({.device = d});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed);
    const auto scale = static_cast<std::int64_t>(seed + 5);
    const sn::dlpack_legacy_ptr t =
        sn::to_dlpack_legacy(sn::arange(n, {.device = d}) * scale + 1, {.stream = number_of(b)});
    list seen(n);
    others_copy(b, seen.data(), sn::dlpack::view(t.get())->dl_tensor.data);
    b.synchronize();
    CHECK(seen == counting(n, scale, 1));
  }
}

TEST_CASE("without a stream, and with 1, the default stream waits") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    sim::set_order(seed);
    const sn::stream_guard on(a);
    const auto scale = static_cast<std::int64_t>(seed + 4);
    const ndarray x = sn::arange(n, {.device = d}) * scale;
    sn::eval(x);
    (void)sim::take_tally();
    const sn::dlpack_ptr t = seed % 2 == 0 ? sn::to_dlpack(x) : sn::to_dlpack(x, {.stream = std::intptr_t{1}});
    list seen(n);
    others_copy(sn::default_stream(d), seen.data(), tensor_of(t).data);
    CHECK(sim::take_tally().host_waits == 0);
    sn::default_stream(d).synchronize();
    CHECK(seen == counting(n, scale));
  }
}

TEST_CASE("a consumer on the stream that the array is worked on costs nothing, and -1 requires nothing") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d});
  const sn::stream_guard on(a);
  const ndarray x = sn::arange(n, {.device = d}) * 2;
  sn::eval(x);
  (void)sim::take_tally();
  const sn::dlpack_ptr same = sn::to_dlpack(x, {.stream = number_of(a)});
  const sn::dlpack_ptr none = sn::to_dlpack(x, {.stream = std::intptr_t{-1}});
  const auto t = sim::take_tally();
  CHECK(t.events == 0);
  CHECK(t.waits == 0);
  CHECK(t.host_waits == 0);
  CHECK(tensor_of(same).data == tensor_of(none).data);
  sn::stream b({.device = d}), c({.device = d});
  const sn::dlpack_ptr first = sn::to_dlpack(x, {.stream = number_of(b)});
  CHECK(sim::take_tally().waits == 1);
  const sn::dlpack_ptr second = sn::to_dlpack(x, {.stream = number_of(c)});
  CHECK(sim::take_tally().waits == 1);
}

TEST_CASE("streams that make no sense are refused by name") {
  const sn::device d = sim::first();
  const ndarray x = sn::arange(n, {.device = d}), y = sn::arange(n, {.device = sn::cpu});
  const auto exported = [](const ndarray& z, std::intptr_t s, std::optional<sn::device> to = {}) {
    return message_of<sn::value_error>([&] { (void)sn::to_dlpack(z, {.stream = s, .device = to}); });
  };
  CHECK(exported(x, 0) == "[to_dlpack] stream 0 is ambiguous: 1 is the legacy default stream, 2 the per-thread one");
  CHECK(exported(x, -2) == "[to_dlpack] stream -2 is no stream");
  CHECK(exported(y, 1) == "[to_dlpack] stream 1 of an array on the CPU, where there are no streams");
  CHECK(exported(x, 1, sn::cpu) == "[to_dlpack] stream 1 of an array on the CPU, where there are no streams");
  CHECK(message_of<sn::value_error>([&] {
          (void)sn::to_dlpack_legacy(x, {.stream = std::intptr_t{0}});
        }).find("[to_dlpack_legacy] stream 0") == 0);
  int nothing = 0;
  CHECK_THROWS_AS((void)sn::to_dlpack(x, {.stream = reinterpret_cast<std::intptr_t>(&nothing)}), sn::device_error);
}

TEST_CASE("what a producer is asked to make wait is the calling thread's current stream") {
  const sn::device d = sim::first();
  CHECK(sn::dlpack_stream(d) == 1);
  const sn::stream a({.device = d});
  {
    const sn::stream_guard on(a);
    CHECK(sn::dlpack_stream(d) == number_of(a));
    CHECK(sn::dlpack_stream(sim::second()) == 1);
    CHECK_FALSE(sn::dlpack_stream(sn::cpu).has_value());
    std::thread([&] { CHECK(sn::dlpack_stream(d) == 1); }).join();
  }
  CHECK(sn::dlpack_stream(d) == 1);
  CHECK_THROWS_AS((void)sn::dlpack_stream(sn::cuda(61)), sn::device_error);
}

TEST_CASE("what a producer still computes is used after it, whatever stream uses it") {
  const sn::device d = sim::first();
  const sn::stream theirs({.device = d}), a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed, seed % 3 == 0);
    producer p(gpu_of(d));
    const list late = counting(n, 7, static_cast<std::int64_t>(seed));
    ndarray x;
    {
      const sn::stream_guard on(a);
      REQUIRE(sn::dlpack_stream(d) == number_of(a));
      others_copy(theirs, p.elements.data(), late.data());  // as __dlpack__(stream=a) does: work, then a waits for it
      sn::event done;
      theirs.record(done);
      a.wait(done);
      x = sn::from_dlpack(p.give(), {.immutable = seed % 2 == 0});
    }
    ndarray y;
    {
      const sn::stream_guard on(b);
      y = x + 1;
      sn::eval(y);
    }
    CHECK(values(y) == counting(n, 7, static_cast<std::int64_t>(seed) + 1));
  }
}

TEST_CASE("a pointer that is handed in is used after the stream that was current then") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::set_order(seed);
    list memory(n, 0);
    const list late = counting(n, 7);
    ndarray x;
    {
      const sn::stream_guard on(a);
      others_copy(a, memory.data(), late.data());
      x = sn::from_pointer(memory.data(), {n}, {.device = d});
    }
    const sn::stream_guard on(b);
    const ndarray y = x * 2;
    CHECK(values(y) == counting(n, 14));
    x += 1;
    sn::synchronize(d);
    CHECK(memory == counting(n, 7, 1));
  }
}

TEST_CASE("a producer gets its memory back when every stream that has used it is done") {
  const sn::device d = sim::first();
  const sn::stream a({.device = d}), b({.device = d}), c({.device = d});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed, seed % 3 == 0);
    producer p(gpu_of(d));
    ndarray first, second;
    {
      const sn::stream_guard on(a);
      ndarray x = sn::from_dlpack(p.give(), {.immutable = seed % 2 == 0});
      first = x * 10;
      sn::eval(first);
      const sn::stream_guard there(b);
      second = x(slice(_, _, -1)) + 1;
      sn::eval(second);
      CHECK(p.deleted == 0);
      const sn::stream_guard elsewhere(c);  // and the last reference goes where nothing has been done
      x = ndarray();
    }
    CHECK(p.deleted == 1);
    CHECK(p.elements[5] == -1);
    CHECK(values(first) == counting(n, 20));
    CHECK(values(second) == counting(n, -2, 2 * n - 1));
  }
}

TEST_CASE("a copy on request lets the producer's memory go, and has its elements") {
  const sn::device d = sim::first();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    sim::set_order(seed);
    producer p(gpu_of(d));
    const ndarray x = sn::from_dlpack(p.give(), {.copy = true});
    CHECK(p.deleted == 1);
    CHECK(values(x) == counting(n, 2));
    producer q(gpu_of(d));
    const ndarray y = sn::from_dlpack(q.give(), {.device = sim::second()});
    CHECK(y.device() == sim::second());
    CHECK(q.deleted == 1);
    CHECK(values(y) == counting(n, 2));
  }
}

TEST_CASE("memory is not used again before what a consumer has enqueued on the default stream") {
  const sn::device d = sim::first();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    sim::set_order(seed, seed % 3 == 0);
    list seen(n);
    auto a = std::make_unique<sn::stream>(sn::stream_kw{.device = d});
    const sn::stream b({.device = d});
    sn::dlpack_ptr t;
    void* address = nullptr;
    {
      const sn::stream_guard on(*a);
      t = sn::to_dlpack(sn::arange(n, {.device = d}) * 6);
      address = tensor_of(t).data;
    }
    others_copy(sn::default_stream(d), seen.data(), address);
    if (seed % 2 == 0) {
      t.reset();
      const sn::stream_guard on(*a);
      const ndarray next = sn::zeros(n, {.dtype = sn::int64, .device = d}) - 5;
      sn::eval(next);
      CHECK(next.data<std::int64_t>() == address);
    } else {  // the owner stream has been destroyed
      a.reset();
      t.reset();
      const sn::stream_guard on(b);
      const ndarray next = sn::zeros(n, {.dtype = sn::int64, .device = d}) - 5;
      sn::eval(next);
      b.synchronize();
    }
    sn::synchronize(d);
    CHECK(seen == counting(n, 6));
  }
}

TEST_CASE("a capture hands nothing to others and takes nothing from them by streams") {
  const sn::device d = sim::first();
  ndarray x = sn::arange(n, {.device = d}) * 2;
  sn::eval(x);
  const sn::device_guard on(d);
  const auto captured = [&](auto&& f) {
    return message_of<sn::device_error>([&] { (void)sn::capture([&] { f(); }); });
  };
  CHECK(captured([&] { (void)sn::to_dlpack(x, {.stream = std::intptr_t{-1}}); }).find("[to_dlpack]") == 0);
  CHECK(captured([&] { (void)sn::to_dlpack_legacy(x); }).find("[to_dlpack_legacy]") == 0);
  CHECK(captured([&] { (void)sn::dlpack_stream(d); }).find("[dlpack_stream]") == 0);
  CHECK(values(x) == counting(n, 2));
}
