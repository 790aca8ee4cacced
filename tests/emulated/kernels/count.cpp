// The kernel that counts in shared memory as a host function.
#include "emulated/kernels/count.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/count_kernels.cuh"
#include "runtime/algorithms/equal_bins.hpp"

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
static_assert(count_block == device::count_threads);

template <class T>
struct sampled_bins {
  using sample = T;
  using number = typename sinter::backends::equal_bins<T>::number_type;
  using distance = typename sinter::backends::equal_bins<T>::edge_type;
  const T* samples;
  sinter::backends::equal_bins<T> bins;
  std::int64_t bin(T x) const { return bins.bin(x); }
  distance near(T x, number& at) const { return bins.near(x, at); }
  bool is_clear(distance d) const { return bins.is_clear(d); }
};

template <class T>
void count(const T* samples, std::int64_t n, std::int64_t head, double low, double high, int bins, int copies,
           bool narrow, unsigned* counts) {
  static unsigned own[device::shared_counters];
  for (int k = static_cast<int>(threadIdx.x); k < device::shared_counters; k += count_block) own[k] = 0;
  __syncthreads();
  const device::shared_counts mine{own + (threadIdx.x & static_cast<unsigned>(copies - 1)), static_cast<unsigned>(bins),
                                   static_cast<unsigned>(copies)};
  device::count_samples(sampled_bins<T>{samples, {low, high, bins, narrow}}, n, head, mine);
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += count_block)
    for (int i = 0; i < copies; ++i) counts[static_cast<int>(blockIdx.x) * bins + b] += own[b * copies + i];
}

}  // namespace

const count_kernel<float> count_floats = count<float>;
const count_kernel<double> count_doubles = count<double>;
const count_kernel<std::uint8_t> count_bytes = count<std::uint8_t>;

}  // namespace emulated
