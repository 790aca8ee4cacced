// expect: deleted|comma
// standard: 20
// The comma operator of slices is deleted, with or without the compiler's warning.
// flags: -Wno-comma-subscript -Wno-error
#include <sinter/sinter.hpp>
using namespace sinter::idx;
void f(sinter::ndarray x) { x[slice(1, 2), 0]; }
