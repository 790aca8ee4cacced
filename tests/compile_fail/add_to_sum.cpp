// expect: discards qualifiers|no viable|rvalue|lvalue
// In-place addition needs something that stays.
#include <sinter/sinter.hpp>
void f(sinter::ndarray a, sinter::ndarray b) { (a + b) += 1; }
