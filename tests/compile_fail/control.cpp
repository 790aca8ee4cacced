// expect: compiles
// The control: the right spelling next to each of the wrong ones in this folder.
#include <sinter/sinter.hpp>
namespace sn = sinter;
using namespace sn::idx;

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
  if (bool(sn::all(a == b)) && float(s) > 1) c = z;
}
