// expect: deleted
// Rebinding a name to a number is a mistake: x() = 1 or x[ellipsis] = 1 fills the array.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x = 1.0; }
