// expect: no match|no viable|no matching|deleted
// A bool is not an index.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x(true); }
