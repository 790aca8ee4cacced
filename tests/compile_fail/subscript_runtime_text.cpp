// expect: no match|no viable|not a constant expression
// Text that is known at run time only is not a subscript.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x, const char* text) { x[text]; }
