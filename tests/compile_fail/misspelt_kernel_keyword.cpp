// expect: no match for call|no matching function
// The keyword is size; nothing else is taken for it, not even a number.
#include <sinter/sinter.hpp>
void f(const sinter::elementwise_kernel& k, sinter::ndarray x) { k(x, {.sise = 3}); }
