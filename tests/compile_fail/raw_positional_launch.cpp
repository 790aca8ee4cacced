// expect: _kw|kwonly|no match for call|no matching function
// Grid and block are named: {1, 256} could mean either way round.
#include <sinter/raw_kernel.hpp>
void f(sinter::raw_kernel k, sinter::ndarray x) { k({1, 256}, x); }
