// expect: keepdim
// The keyword is keepdims; the guard keeps a misspelt one from meaning something else.
#include <sinter/sinter.hpp>
void f(sinter::ndarray x) { sinter::sum(x, 1, {.keepdim = true}); }
