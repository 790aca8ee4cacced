// The kernel that counts in shared memory as a function of the host.
#pragma once
#include <cstdint>

namespace emulated {

inline constexpr int count_block = 1024;

/// counts[block][bin]: what each block counted, of `bins` equal bins of [low, high] with `copies` counters each. Sample
/// `head` begins a pack.
template <class T>
using count_kernel = void (*)(const T* samples, std::int64_t n, std::int64_t head, double low, double high, int bins,
                              int copies, bool narrow, unsigned* counts);
extern const count_kernel<float> count_floats;
extern const count_kernel<double> count_doubles;
extern const count_kernel<std::uint8_t> count_bytes;

}  // namespace emulated
