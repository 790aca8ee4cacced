// expect: comma
// standard: 20
// In C++20 x[1, 2] is x[2].
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x[1, 2]; }
