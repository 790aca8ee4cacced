// expect: deleted|ambiguous
// Braces are for array(): x(i) = array({1, 2}).
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x(0) = {1, 2}; }
