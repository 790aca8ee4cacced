// expect: deleted
// standard: 20
// The comma operators of what is nothing but an index are deleted: refused where warnings are off, too.
// flags: -w
#include <sinter/sinter.hpp>
using namespace sinter;
using namespace sinter::idx;

void f0(ndarray x) { x[slice(1, 2), 0]; }            // refused
void f1(ndarray x) { x[0, slice(1, 2)]; }            // refused
void f2(ndarray x) { x[slice(1, 2), slice(1, 2)]; }  // refused
void f3(ndarray x) { x[_, 0]; }                      // refused
void f4(ndarray x) { x[0, _]; }                      // refused
void f5(ndarray x) { x[0, 1, _]; }                   // refused
void f6(ndarray x) { x[_, 0, 1]; }                   // refused
void f7(ndarray x, ndarray rows) { x[rows, _]; }     // refused
void f8(ndarray x, ndarray rows) { x[_, rows]; }     // refused
void f9(ndarray x) { x[x > 0, _]; }                  // refused
void f10(ndarray x) { x["1:2", _]; }                 // refused
void f11(ndarray x) { x[newaxis, 0]; }               // refused
void f12(ndarray x) { x[0, newaxis]; }               // refused
void f13(ndarray x) { x[ellipsis, 0]; }              // refused
void f14(ndarray x) { x[0, ellipsis]; }              // refused
void f15(ndarray x) { x[ellipsis, newaxis]; }        // refused
