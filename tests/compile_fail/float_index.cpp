// expect: no match|no viable|no matching
// Neither is a floating-point number.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x(1.5); }
