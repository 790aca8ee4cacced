// expect: deleted
// A name of a selection is rebound; a number cannot be what it is bound to.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x, sinter::ndarray mask) {
  auto picked = x[mask];
  picked = 0;
}
