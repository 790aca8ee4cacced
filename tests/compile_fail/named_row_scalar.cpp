// expect: deleted
// A named row is a name like any other.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) {
  auto row = x(0);
  row = 1.0;
}
