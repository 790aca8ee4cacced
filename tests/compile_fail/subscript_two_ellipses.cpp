// expect: two ellipses|not a constant expression
// Two ellipses leave it open which axes each of them takes.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["..., 1, ..."]; }
