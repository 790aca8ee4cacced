// expect: comma
// standard: 20
// In C++20 x[1, 2] is x[2]: refused with no more options than the standard's, whatever is between the brackets.
#include <sinter/sinter.hpp>
using namespace sinter;
using namespace sinter::idx;
using indices = std::vector<sinter::index>;

void f0(ndarray x) { x[1, 2]; }                                                    // refused
void f1(ndarray x, int i) { x[i, 2]; }                                             // refused
void f2(ndarray x, int i) { x[i, i]; }                                             // refused
void f3(ndarray x, int i) { x[1, i, 2]; }                                          // refused
void f4(ndarray x, ndarray rows) { x[rows, 2]; }                                   // refused
void f5(ndarray x, ndarray rows) { x[2, rows]; }                                   // refused
void f6(ndarray x, ndarray rows) { x[rows, rows]; }                                // refused
void f7(ndarray x, ndarray rows) { x[rows > 1, 2]; }                               // refused
void f8(ndarray x) { x[x(0), 2]; }                                                 // refused
void f9(ndarray x) { x["1:2", 3]; }                                                // refused
void f10(ndarray x) { x["1:2", "3"]; }                                             // refused
void f11(ndarray x, std::vector<int> numbers) { x[numbers, 1]; }                   // refused
void f12(ndarray x, ndarray rows, std::vector<int> numbers) { x[numbers, rows]; }  // refused
void f13(ndarray x, std::vector<ndarray> arrays) { x[arrays, 1]; }                 // refused
void f14(ndarray x, std::vector<ndarray> arrays) { x[1, arrays]; }                 // refused
void f15(ndarray x, int i) { x[i, 2] = 0; }                                        // refused
void f16(ndarray x, int i) { x[i, 2] += x; }                                       // refused
void f17(ndarray x, indices key) { x[key, 0]; }                                    // refused
void f18(ndarray x, indices key) { x[index(1), key]; }                             // refused
