// expect: nodiscard|ignoring
// flags: -Werror=unused-result -Werror=unused-value -Werror
// A guard that dies at once guards nothing.
#include <sinter/sinter.hpp>
void f() { sinter::fast_math_guard(true); }
