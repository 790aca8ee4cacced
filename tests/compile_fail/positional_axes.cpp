// expect: no matching function|could not convert|cannot convert
// Axes in bare braces would fill keywords by position: write axes{0, 1}.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { sinter::sum(x, {0, 1}); }
