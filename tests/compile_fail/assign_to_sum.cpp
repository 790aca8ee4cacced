// expect: deleted|passing .* discards|no viable|rvalue
// The result of an expression is a temporary: assigning to it would be lost.
#include <sinter/sinter.hpp>
void f(sinter::ndarray a, sinter::ndarray b, sinter::ndarray c) { (a + b) = c; }
