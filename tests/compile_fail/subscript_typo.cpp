// expect: unexpected character|not a constant expression
// A subscript is parsed while compiling.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["1;2"]; }
