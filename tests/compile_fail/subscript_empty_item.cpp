// expect: empty item|not a constant expression
// Nothing stands between the commas.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["1,,2"]; }
