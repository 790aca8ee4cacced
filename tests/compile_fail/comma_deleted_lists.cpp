// expect: deleted
// standard: 20
// The comma operators of what is nothing but an index are deleted: refused where warnings are off, too.
// flags: -w
#include <sinter/sinter.hpp>
using namespace sinter;
using namespace sinter::idx;

void f0(ndarray x) { x[list{0, 1}, 0]; }                                // refused
void f1(ndarray x) { x[0, list{0, 1}]; }                                // refused
void f2(ndarray x, ndarray rows) { x[list{0, 1}, rows]; }               // refused
void f3(ndarray x) { x[list{0, 1}, list{0, 1}]; }                       // refused
void f8(ndarray x, std::vector<int> numbers) { x[numbers, _]; }         // refused
void f9(ndarray x, std::vector<int> numbers) { x[_, numbers]; }         // refused
void f10(ndarray x, std::vector<int> numbers) { x[list(numbers), 0]; }  // refused
