// The kernel that makes Q from reflectors, as host functions for the emulator.
#pragma once
#include <complex>

namespace emulated {

void form_q(long long rows, long long columns, long long reflectors, long long count, double* a, const double* tau);
void form_q(long long rows, long long columns, long long reflectors, long long count, std::complex<float>* a,
            const std::complex<float>* tau);

}  // namespace emulated
