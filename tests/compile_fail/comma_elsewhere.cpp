// expect: compiles
// The comma of arrays and keys outside of brackets is C++'s own.
// flags: -Werror -Wno-unused-value
#include <sinter/sinter.hpp>
using namespace sinter::idx;
template <class... A>
void add_all(sinter::ndarray& sum, const A&... a) {
  ((sum += a), ...);
}
void f(sinter::ndarray x, sinter::ndarray y) {
  for (int i = 0; i < 3; ++i, x += y) y = x, x = y;
  add_all(x, y, 2, y);
  x(0, _) = x(_, 1);
  std::vector<sinter::index> key;
  for (int i = 0; i < 3; key.push_back(i), ++i) key = {0, _}, key[0] = 1, key[1] = y;
  x[std::vector<sinter::index>{0, _, newaxis}] = 0;
}
