// expect: read-only|const
// Host views are read-only; writing goes through the array or data().
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { x.host<float>()(0) = 1; }
