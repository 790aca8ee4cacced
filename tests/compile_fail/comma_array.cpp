// expect: comma
// standard: 20
// In C++20 x[rows, 2] is x[2], also with an array of indices in front.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x, sinter::ndarray rows) { x[rows, 2]; }
