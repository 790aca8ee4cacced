// expect: deleted|ambiguous
// x(i) = {} has no meaning: neither zeros nor an empty array.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x(0) = {}; }
