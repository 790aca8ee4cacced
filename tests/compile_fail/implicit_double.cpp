// expect: cannot convert|no viable conversion|explicit
// Reading a number waits for the device, so it is written: double(x) or x.item<double>().
#include <sinter/sinter.hpp>
double f(sinter::ndarray x) { return x; }
