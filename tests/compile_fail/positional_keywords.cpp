// expect: no matching function|could not convert|cannot convert|explicit
// Keywords are named.
#include <sinter/sinter.hpp>
void f() { sinter::zeros({3, 4}, {{}, sinter::float32, 1, 2}); }
