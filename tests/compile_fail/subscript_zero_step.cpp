// expect: step is zero|not a constant expression
// A slice cannot stand still.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["::0"]; }
