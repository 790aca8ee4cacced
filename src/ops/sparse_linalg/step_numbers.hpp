// The structures and functions of number_steps.inl for the library itself.
#pragma once
#include <cmath>
#include <cstddef>

namespace sinter::ops::numbers {

// Not those of arrays.
using std::fabs, std::fmax, std::fmin, std::sqrt;

#define SINTER_NUMBER_TEXT(...) __VA_ARGS__
#define __device__
#include "ops/sparse_linalg/number_steps.inl"
#undef __device__
#undef SINTER_NUMBER_TEXT

}  // namespace sinter::ops::numbers

namespace sinter::ops {
using namespace numbers;
}  // namespace sinter::ops

/// The position of a member, as number_steps counts.
#define SINTER_NUMBER_INDEX(type, member) (offsetof(type, member) / sizeof(double))
