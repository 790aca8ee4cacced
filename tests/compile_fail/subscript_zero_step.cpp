// expect: step is zero|not a constant expression
// A slice cannot have a step of 0.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["::0"]; }
