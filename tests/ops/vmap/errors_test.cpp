// What vmap refuses.
#include "ops/vmap/beside_loop.hpp"
#include "sinter/graph.hpp"

using namespace vmap_test;
using sinter::idx::_;
using sinter_test::refuses;

TEST_CASE("vmap: elements of one example are refused") {
  const ndarray x = numbers({4, 3});
  const std::string says = "[vmap] the elements of an array that stands for one example";
  refuses<vmap_error>([&] { vmap([](const ndarray& a) { return bool(a(0) > 0) ? a : -a; })(x); }, says);
  refuses<vmap_error>([&] { vmap([](const ndarray& a) { return a * a(0).item<double>(); })(x); }, says);
  refuses<vmap_error>([&] { vmap([](const ndarray& a) { return a + double(a(0).to_vector<double>()[0]); })(x); }, says);
  refuses<vmap_error>(
      [&] {
        vmap([](const ndarray& a) {
          eval(a);
          return a;
        })(x);
      },
      says);
  refuses<vmap_error>(
      [&] {
        vmap([](const ndarray& a) {
          a.data<double>();
          return a;
        })(x);
      },
      says);
  refuses<vmap_error>([&] { vmap([](const ndarray& a) { return unique_values(a); })(x); }, "[vmap]");
  // Nothing is left behind.
  CHECK(same_bits(vmap([](const ndarray& a) { return a * 2; })(x), x * 2));
  CHECK(double(sum(x)) == double(sum(x.copy())));
}

TEST_CASE("vmap: an array of one example is of no use after its vmap") {
  const ndarray x = numbers({4, 3});
  ndarray kept, outside = zeros(3);
  vmap([&](const ndarray& a) {
    kept = a * 2;
    return a;
  })(x);
  CHECK(kept.shape() == shape_t{3});
  refuses<vmap_error>([&] { kept.to_vector<double>(); }, "[vmap]");
  refuses<vmap_error>([&] { sum(kept + 1).item<double>(); }, "[vmap]");
  vmap([&](const ndarray& a) {
    outside(0) = a(0);
    return a;
  })(x);
  refuses<vmap_error>([&] { outside.to_vector<double>(); }, "[vmap]");
}

TEST_CASE("vmap: long functions are not evaluated on the way") {
  const ndarray x = numbers({4, 3}, float32);
  const auto f = [](ndarray a) {
    for (int k = 0; k < 1000; ++k) a = sin(a) + a * 0.5;
    return a;
  };
  check_bits(f, x);
  const auto g = [](ndarray a) {
    for (int k = 0; k < 100; ++k) a(k % 3) = a((k + 1) % 3) + 1;
    return a;
  };
  check_bits(g, x);
}

TEST_CASE("vmap: axes that do not fit") {
  const ndarray x = numbers({4, 3}), y = numbers({5, 3});
  const auto f = [](const ndarray& a, const ndarray& b) { return a + b; };
  const auto g = [](const ndarray& a) { return a; };
  refuses<shape_error>([&] { vmap(f)(x, y); }, "4 in axis 0 of shape (4, 3), 5 in axis 0 of shape (5, 3)");
  refuses<shape_error>([&] { vmap(g, {.axis_size = 3})(x); }, "3 in axis_size, 4");
  refuses<index_error>([&] { vmap(g, {.in_axes = 2})(x); }, "[vmap] axis 2");
  refuses<index_error>([&] { vmap(g, {.in_axes = -3})(x); }, "[vmap] axis -3");
  refuses<index_error>([&] { vmap(g)(x(0, 0)); }, "[vmap] axis 0");
  refuses<index_error>([&] { vmap(g, {.out_axes = 2})(x); }, "[vmap] axis 2");
  refuses<value_error>([&] { vmap(g, {.in_axes = std::nullopt})(x); }, "no argument has an axis of examples");
  refuses<value_error>([&] { vmap(f, {.in_axes = {0, 0, 0}})(x, x); }, "in_axes has 3 entries for 2 parts");
  refuses<value_error>([&] { vmap(g, {.out_axes = {0, 1}})(x); }, "out_axes has 2 entries for 1 part");
  refuses<value_error>([&] { vmap(g, {.out_axes = std::nullopt})(x); }, "depends on the example");
  refuses<value_error>([&] { vmap(g, {.axis_size = -1})(x); }, "axis_size (-1) is negative");
  refuses<value_error>([&] { vmap(g)(ndarray()); }, "undefined");
  // What the function itself refuses.
  CHECK_THROWS_AS(vmap([](const ndarray& a) { return a + zeros(4); })(x), shape_error);
}

TEST_CASE("vmap: index errors in data are found when the result is read") {
  const ndarray x = numbers({4, 3});
  const ndarray r =
      vmap([](const ndarray& a, const ndarray& i) { return a(i); })(x, array({{0, 1}, {2, 5}, {0, 0}, {0, 0}}));
  CHECK_THROWS_AS(r.to_vector<double>(), index_error);
}
