// expect: deleted|comma
// standard: 20
// So is that of `_`.
// flags: -Wno-comma-subscript -Wno-error
#include <sinter/sinter.hpp>
using namespace sinter::idx;
void f(sinter::ndarray x) { x[0, _]; }
