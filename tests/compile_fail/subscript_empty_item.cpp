// expect: empty item|not a constant expression
// There is nothing between the commas.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x["1,,2"]; }
