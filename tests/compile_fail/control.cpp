// expect: compiles
// The control: the right spelling next to each of the wrong ones in this folder.
#include <sinter/sinter.hpp>
namespace sn = sinter;
using namespace sn::idx;

void kernels(const sn::elementwise_kernel& k, const sn::reduction_kernel& r, const sn::function& f, sn::ndarray a) {
  auto z = k(a, 2, {.size = 3}) + k({.size = 3}) + k(a + 1, a(0), {.out = {a, a}}) + f(a, 1) + r(a, sn::axes{0, 1});
  auto [x, y] = k.outputs<2>(a, a);
  auto w = r(a, 1, {.keepdims = true}) + r(a, {.axis = {0, 1}});
}

void control(sn::ndarray a, sn::ndarray b) {
  sn::ndarray c = a + b;
  c = a;
  a(0) = 1;
  a(0) = b;
  a(0) += b;
  a(_, slice(1, 3)) = 2.5;
  a["1:-1, ::2"] = 0;
  a["..., None, 3"] *= 2;
  auto row = a(0);
  row = row * 2;
  auto s = sn::sum(a, 1, {.keepdims = true}) + sn::sum(a, sn::axes{0, 1}) + sn::sum(a, {.axis = {0, 1}});
  auto z = sn::zeros({3, 4}, {.dtype = sn::float32});
  sn::raw_kernel k("source", "k");
  k({.grid = 1, .block = 32}, a, 2.0f);
  if (bool(sn::all(a == b)) && float(s) > 1) c = z;
}
