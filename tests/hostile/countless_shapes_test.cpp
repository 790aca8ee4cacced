// Shapes whose number of elements overflows: every function that would make one throws shape_error and allocates
// nothing.
#include <functional>

#include "hostile/extreme_integers.hpp"

using namespace hostile;
using namespace sinter::idx;

namespace {

struct making {
  std::string name;
  std::function<ndarray(const ndarray& column, const ndarray& row)> call;
};

ndarray repeated(const sn::shape_t& shape, sn::dtype type) { return sn::broadcast_to(sn::ones({1}, type), shape); }

const std::vector<making>& makings() {
  using A = const ndarray&;
  static const std::vector<making> all{
      {"add", [](A x, A y) { return x + y; }},
      {"subtract", [](A x, A y) { return sn::subtract(x, y); }},
      {"less", [](A x, A y) { return x < y; }},
      {"where", [](A x, A y) { return sn::where(x, y, 1); }},
      {"where of a condition", [](A x, A y) { return sn::where(true, x, y); }},
      {"clip", [](A x, A y) { return sn::clip(x, y, 1); }},
      {"isclose", [](A x, A y) { return sn::isclose(x, y); }},
      {"heaviside", [](A x, A y) { return sn::heaviside(x, y); }},
      {"power", [](A x, A y) { return sn::power(x, y); }},
      {"outer", [](A x, A y) { return sn::outer(x, y); }},
      {"inner", [](A x, A y) { return sn::inner(x(_, sn::slice(0, 1)), y(0, _)(_, newaxis)); }},
      {"matmul", [](A x, A y) { return sn::matmul(x, y); }},
      {"dot", [](A x, A y) { return sn::dot(x, y); }},
      {"tensordot", [](A x, A y) { return sn::tensordot(x, y, 1); }},
      {"matmul of a stack", [](A x, A y) { return sn::matmul(x(_, _, newaxis, newaxis), y(_, _, newaxis, newaxis)); }},
      {"vecdot", [](A x, A y) { return sn::vecdot(x(_, _, newaxis), y(_, _, newaxis)); }},
      {"matvec", [](A x, A y) { return sn::matvec(x(_, newaxis, newaxis), y(_, _, newaxis)); }},
      {"vecmat", [](A x, A y) { return sn::vecmat(x, y); }},
      {"einsum", [](A x, A y) { return sn::einsum("ij,jk->ik", x, y); }},
      {"einsum outer", [](A x, A y) { return sn::einsum("i,j->ij", x(_, 0), y(0, _)); }},
      {"kron", [](A x, A y) { return sn::kron(x, y); }},
      {"choose",
       [](A x, A y) {
         return sn::choose(x.astype(sn::int64), {y, y}, {.mode = "clip"});
       }},
      {"triu", [](A x, A) { return sn::triu(x(_, 0)); }},
      {"tril", [](A, A y) { return sn::tril(y(0, _)); }},
      {"take_along_axis", [](A x, A y) { return sn::take_along_axis(x, y.astype(sn::int64), 1); }},
      {"take", [](A x, A y) { return sn::take(x, y(0, _).astype(sn::int64), 1); }},
      {"index", [](A x, A y) { return ndarray(x(_, y(0, _).astype(sn::int64))); }},
      {"broadcast_arrays", [](A x, A y) { return sn::broadcast_arrays(x, y)[0]; }},
      {"broadcast_to",
       [](A x, A) {
         return sn::broadcast_to(x, {x.shape(0), x.shape(0)});
       }},
      {"meshgrid",
       [](A x, A y) {
         return sn::meshgrid({x(_, 0), y(0, _)})[0];
       }},
      {"expand and concatenate",
       [](A x, A) { return sn::concatenate(std::vector<ndarray>(5, repeated({most / 64}, sn::int8)), 0) + x(0, 0); }},
      {"tile",
       [](A x, A) {
         return sn::tile(x, {1, x.shape(0)});
       }},
      {"repeat", [](A x, A) { return sn::repeat(x, x.shape(0), 1); }},
      {"searchsorted", [](A x, A y) { return sn::searchsorted(sn::ones({1}), x + y); }},
      {"arctan2", [](A x, A y) { return sn::arctan2(x, y); }},
      {"in place",
       [](A x, A y) {
         ndarray z = sn::zeros_like(x);
         z += y;
         return z;
       }},
      {"normal", [](A x, A y) { return sn::random::normal(x, y); }},
      {"cross",
       [](A x, A y) { return sn::cross(x(_, _, newaxis) + sn::zeros({3}), y(_, _, newaxis) + sn::zeros({3})); }},
      {"solve", [](A x, A y) { return sn::linalg::solve(x(_, _, newaxis, newaxis), y(_, _, newaxis, newaxis)); }},
      {"kernel", [](A x, A y) { return sn::function("T countless(T x, T y)", "return x + y;")(x, y); }},
      {"stack", [](A x, A y) { return sn::stack({sn::broadcast_arrays(x, y)[0]}); }},
      {"fftconvolve", [](A x, A y) { return sn::fft::fftconvolve(x, y); }},
  };
  return all;
}

}  // namespace

TEST_CASE("countless shapes: refused by whatever would make one") {
  const little_memory limit;
  for (const auto type : {sn::float64, sn::int8})
    for (const int64_t n : {two_to_32, two_to_32 + 1, two_to_31, int64_t{1} << 40}) {
      // 2^31 x 2^31 fits int64, but its bytes do not.
      const ndarray column = repeated({n, 1}, type), row = repeated({1, n}, type);
      for (const making& m : makings()) {
        INFO(m.name << " of " << n << ", " << sn::name(type));
        CHECK_THROWS_AS(static_cast<void>(m.call(column, row).size()), sn::shape_error);
      }
    }
}

TEST_CASE("countless shapes: the message names the function and the shape") {
  const ndarray column = repeated({two_to_32, 1}, sn::float64);
  CHECK_THROWS_WITH_AS(sn::hypot(column, column.T()), "[hypot] shape (4294967296, 4294967296) has too many elements",
                       sn::shape_error);
}

// As NumPy: np.broadcast_to(np.zeros((1, 1, 0)), (2**32, 2**32, 0)) is a ValueError.
TEST_CASE("countless shapes: an extent of 0 does not excuse the others") {
  CHECK_THROWS_AS(sn::empty({two_to_32, two_to_32, 0}), sn::shape_error);
  const ndarray x = repeated({two_to_32, 1, 0}, sn::float64), y = repeated({1, two_to_32, 0}, sn::float64);
  CHECK_THROWS_AS(x + y, sn::shape_error);
  CHECK_THROWS_AS(sn::broadcast_arrays(x, y), sn::shape_error);
  CHECK((x + 1).shape() == sn::shape_t{two_to_32, 1, 0});
}

// What is never stored may be large: sums of it, and parts of it.
TEST_CASE("countless shapes: large ones that can be counted are as good as any") {
  const ndarray x = repeated({int64_t{1} << 40}, sn::float64);
  CHECK((x + x)(5).item<double>() == 2);
  CHECK((x(_, newaxis) + sn::ones({2}))(most % 1000, 1).item<double>() == 2);
}
