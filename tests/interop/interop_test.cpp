// Foreign memory as arrays: the time of reads and writes, when the memory is released, what is refused; and views of
// arrays for code on the host.
#include <doctest/doctest.h>

#include <complex>
#include <numeric>

#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

std::vector<double> numbers(std::size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), 0.0);
  return v;
}

std::uint64_t allocations() { return runtime::get_backend({}).statistics().allocations; }

}  // namespace

TEST_CASE("an array over a pointer reads what is there when it is asked, and writes at once") {
  std::vector<double> v = numbers(6);
  ndarray x = from_pointer(v.data(), {2, 3});
  CHECK(x.device() == cpu);
  CHECK(x.dtype() == float64);
  CHECK(x.strides() == std::vector<std::int64_t>{24, 8});
  CHECK(x.to_vector<double>() == numbers(6));
  v[4] = 40;
  CHECK(x(1, 1).item<double>() == 40);
  x(0) = 7;
  CHECK(v == std::vector<double>{7, 7, 7, 3, 40, 5});
  x += 1;
  CHECK(v == std::vector<double>{8, 8, 8, 4, 41, 6});
  CHECK(x.data<double>() == v.data());
}

TEST_CASE("an expression of foreign memory has the elements as they were when it was written down") {
  std::vector<double> v = numbers(4);
  const ndarray x = from_pointer(v.data(), 4);
  const ndarray y = x * 2, whole = sum(x), part = x(slice(1, 3)).copy();
  v.assign(4, 100);
  CHECK(y.to_vector<double>() == std::vector<double>{0, 2, 4, 6});
  CHECK(whole.item<double>() == 6);
  CHECK(part.to_vector<double>() == std::vector<double>{1, 2});
  CHECK((x * 2).to_vector<double>() == std::vector<double>(4, 200));
}

TEST_CASE("immutable foreign memory is read where it lies, and nothing is ever written there") {
  const std::vector<double> v = numbers(1000);
  const ndarray x = from_pointer(v.data(), 1000, {.immutable = true});
  const auto before = allocations();
  const ndarray y = x * 2 + 1;
  CHECK(allocations() == before);
  CHECK(x.host<double>().data() == v.data());
  CHECK(y(999).item<double>() == 1999);
  CHECK_THROWS_AS(x(0) = 1, value_error);
  ndarray mine = x.copy();
  mine(0) = -1.0;
  mine += 1;
  *from_pointer(v.data(), 1000, {.immutable = true}).copy().data<double>() = 55;
  ndarray lent = from_pointer(v.data(), 1000, {.immutable = true}).copy();
  lent(3) = 8.0;
  eval(lent, mine);
  CHECK(v == numbers(1000));
  CHECK(mine(0).item<double>() == 0);
  CHECK(lent(3).item<double>() == 8);
}

TEST_CASE("strides of foreign memory: columns, gaps, backwards, repeated") {
  std::vector<double> v = numbers(12);
  CHECK(from_pointer(v.data(), {3, 4}, {.strides = {8, 24}}).to_vector<double>() ==
        std::vector<double>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  ndarray gaps = from_pointer(v.data() + 1, {2, 2}, {.strides = {48, 16}});
  CHECK(gaps.to_vector<double>() == std::vector<double>{1, 3, 7, 9});
  gaps *= 10;
  CHECK(v == std::vector<double>{0, 10, 2, 30, 4, 5, 6, 70, 8, 90, 10, 11});
  const ndarray back = from_pointer(v.data() + 11, {4}, {.strides = {-8}});
  CHECK(back.to_vector<double>() == std::vector<double>{11, 10, 90, 8});
  CHECK(back["::-1"].to_vector<double>() == std::vector<double>{8, 90, 10, 11});
  back(0) = 12;
  CHECK(v[11] == 12);
  const ndarray same = from_pointer(v.data() + 2, {2, 3}, {.strides = {0, 0}});
  CHECK(same.to_vector<double>() == std::vector<double>(6, 2));
  CHECK_THROWS_AS(same(_) = 5, value_error);
  CHECK(from_pointer(v.data(), shape_t{}).item<double>() == 0);
  CHECK(from_pointer(v.data(), {1, 12}, {.strides = {1 << 30, 8}}).to_vector<double>() == v);
}

TEST_CASE("the deleter is called once, with the pointer, when the last reference goes") {
  int calls = 0;
  double v[4] = {1, 2, 3, 4};
  const auto deleter = [&](void* p) { calls += p == v ? 1 : 100; };
  {
    const ndarray row = from_pointer(v, {2, 2}, {.deleter = deleter})(1);
    CHECK(calls == 0);
    CHECK(row.to_vector<double>() == std::vector<double>{3, 4});
  }
  CHECK(calls == 1);
  ndarray pending = from_pointer(v, {2, 2}, {.deleter = deleter, .immutable = true}) + 1;
  CHECK(calls == 1);
  CHECK(pending(0, 0).item<double>() == 2);
  eval(pending);
  CHECK(calls == 2);
  from_pointer(v, {2, 0}, {.deleter = deleter});
  CHECK(calls == 3);
}

TEST_CASE("a pointer that is refused stays the caller's") {
  int calls = 0;
  double v[4] = {};
  const pointer_kw kw{.deleter = [&](void*) { ++calls; }};
  auto with = [&](std::vector<std::int64_t> strides) {
    pointer_kw k = kw;
    k.strides = std::move(strides);
    return k;
  };
  CHECK_THROWS_AS(from_pointer(static_cast<double*>(nullptr), {2}, kw), value_error);
  CHECK_THROWS_AS(from_pointer(v, {-1}, kw), shape_error);
  CHECK_THROWS_AS(from_pointer(v, {std::int64_t{1} << 40, std::int64_t{1} << 40}, kw), shape_error);
  CHECK_THROWS_WITH_AS(from_pointer(v, {2, 2}, with({8})), "[from_pointer] 1 strides for shape (2, 2)", value_error);
  CHECK_THROWS_AS(from_pointer(v, {2}, with({12})), value_error);
  CHECK_THROWS_AS(from_pointer(v, {3}, with({std::int64_t{1} << 62})), value_error);
  CHECK_THROWS_AS(from_pointer(v, {2}, with({INT64_MIN})), value_error);
  CHECK_THROWS_WITH_AS(from_pointer(reinterpret_cast<char*>(v) + 4, {2}, float64, kw),
                       "[from_pointer] the address is no multiple of 8, the size of float64; copy the elements instead",
                       value_error);
  alignas(16) double z[4] = {};
  CHECK_THROWS_AS(from_pointer(z + 1, {1}, complex128, kw), value_error);
  CHECK(from_pointer(z, {2}, complex128).size() == 2);
  pointer_kw nowhere = kw;
  nowhere.device = cuda(99);
  CHECK_THROWS_AS(from_pointer(v, {2}, nowhere), device_error);
  CHECK(calls == 0);
}

TEST_CASE("memory that is const, or called read-only, is not written") {
  const float v[3] = {1, 2, 3};
  const ndarray x = from_pointer(v, {3});
  CHECK_THROWS_AS(x(0) = 1, value_error);
  CHECK((x + 1).to_vector<float>() == std::vector<float>{2, 3, 4});
  int n[2] = {5, 6};
  ndarray y = from_pointer(n, {2}, {.readonly = true});
  CHECK_THROWS_AS(y += 1, value_error);
  n[0] = 7;
  CHECK(y(0).item<int>() == 7);
}

TEST_CASE("columns of an array of structures are arrays") {
  struct particle {
    double x, y;
    std::int64_t id;
  };
  std::vector<particle> all(5);
  for (int k = 0; k < 5; ++k) all[static_cast<std::size_t>(k)] = {k * 1.5, -k * 2.0, k};
  const ndarray y = from_pointer(&all[0].y, {5}, {.strides = {sizeof(particle)}});
  const ndarray id = from_pointer(&all[0].id, {5}, {.strides = {sizeof(particle)}});
  y(_) = y * 10;
  CHECK(all[4].y == -80);
  CHECK(all[4].x == 6);
  CHECK(id.to_vector<int>() == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("a view to write shows the array's own elements, with its strides") {
  ndarray x = reshape(arange(6, {.dtype = float64, .device = cpu}), {2, 3});
  const host_mdview<double, 2> v(x);
  CHECK(v.extent(0) == 2);
  CHECK(v.stride(0) == 3);
  CHECK(v.data_handle() == x.data<double>());
  v(1, 2) = 50;
  CHECK(x(1, 2).item<double>() == 50);
  x(0) = 9;
  CHECK(v(0, 1) == 9);
  CHECK(v.span().size() == 6);
  const host_mdview<double, 2> turned(x.T());
  CHECK(turned(2, 1) == 50);
  CHECK(turned.stride(0) == 1);
  CHECK_THROWS_WITH_AS(turned.span(), "[host_mdview] elements of shape (3, 2) with strides (1, 3) are not contiguous",
                       value_error);
  const host_mdview<double, 1> every_other(x(1, slice(_, _, -2)));
  CHECK(every_other(0) == 50);
  CHECK(every_other(1) == 3);
#ifdef __cpp_multidimensional_subscript
  CHECK(v[1, 2] == 50);
#endif
}

TEST_CASE("a view keeps the elements when the array goes") {
  const auto view = [] { return host_mdview<float, 1>(arange(3, {.dtype = float32, .device = cpu})); }();
  const auto seen = [] { return host_mdview<const float, 1>(arange(3) * 2); }();
  CHECK(view(2) == 2);
  CHECK(seen(2) == 4);
}

TEST_CASE("a view of const elements comes from any device, dtype and layout, and does not change") {
  ndarray x = reshape(arange(6), {2, 3});
  const host_mdview<const float, 2> v(x.T());
  CHECK(v(2, 1) == 5);
  CHECK(v.stride(0) == 2);
  CHECK(v.span()[1] == 3);
  x(1, 2) = 50;
  CHECK(v(2, 1) == 5);
  CHECK(host_mdview<const int, 0>(array(7))() == 7);
  CHECK(host_mdview<const double, 2>(zeros({0, 3})).span().empty());
  const std::span<const std::int64_t> flat(x.host<std::int64_t>());
  CHECK(flat.size() == 6);
}

TEST_CASE("views of the wrong rank, dtype or place are refused") {
  const ndarray x = zeros({2, 3}, create_kw{.device = cpu});
  CHECK_THROWS_WITH_AS((host_mdview<double, 1>(x)), "[host_mdview] rank 1 for an array of shape (2, 3)", shape_error);
  CHECK_THROWS_AS((host_mdview<const double, 3>(x)), shape_error);
  CHECK_THROWS_AS((host_mdview<float, 2>(x)), dtype_error);
  CHECK_THROWS_AS((host_mdview<const double, 1>(array({std::complex<double>(1, 2)}))), dtype_error);
  CHECK_THROWS_AS((host_mdview<double, 2>(broadcast_to(x, {2, 3}))), value_error);
  CHECK_THROWS_AS((host_mdview<double, 1>(ndarray())), value_error);
}
