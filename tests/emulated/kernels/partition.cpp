// The kernels that divide rows by rank as host functions.
#include "emulated/kernels/partition.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/partition_kernels.cuh"

namespace sinter::cuda::device {
namespace {

template <class U>
struct plain_keys {
  const U* base;
};
template <class U>
plain_keys<U> row_at(plain_keys<U> k, std::int64_t row, const rank_job& j) {
  return {k.base + row * j.columns};
}
template <class U>
U key_at(const plain_keys<U>& k, std::int64_t index) {
  return k.base[index];
}

template <class U>
struct plain_target {
  U* elements;
  std::int64_t* positions;
};
template <class U>
plain_target<U> row_at(plain_target<U> d, std::int64_t row, const rank_job& j) {
  const std::int64_t length = j.limit > 0 ? j.limit : j.columns;
  return {d.elements + row * length, d.positions + row * length};
}
template <class U>
void put_at(const plain_target<U>& d, std::int64_t place, std::int64_t index, U key) {
  d.elements[place] = key;
  d.positions[place] = index;
}

}  // namespace
}  // namespace sinter::cuda::device

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
using std::int64_t;
static_assert(partition_threads == device::rank_threads && partition_digits == device::long_digits &&
              partition_digit_bits == device::long_digit_bits);

template <class U>
device::rank_search<U>* searches_at(void* p) {
  return static_cast<device::rank_search<U>*>(p);
}
template <class U>
const device::rank_search<U>* searches_at(const void* p) {
  return static_cast<const device::rank_search<U>*>(p);
}

constexpr int64_t longest_held = device::rank_rounds * device::rank_threads;

template <class U>
void divide_rows(const U* keys, int64_t columns, int64_t rank, int64_t limit, U* to, int64_t* positions) {
  static U shared[longest_held];
  device::divide_row(device::plain_keys<U>{keys}, device::plain_target<U>{to, positions},
                     device::rank_job{columns, rank, limit}, shared);
}
template <class U>
void start(void* searches, int64_t rows, int64_t rank) {
  device::start_searches(searches_at<U>(searches), rows, rank);
}
template <class U>
void count_digits(const U* keys, int64_t columns, int64_t blocks_of_row, int shift, int bits, const void* searches,
                  unsigned long long* counts) {
  device::count_digits(device::plain_keys<U>{keys}, device::rank_job{columns, 0, 0}, blocks_of_row,
                       device::digit_place{shift, bits}, searches_at<U>(searches), counts);
}
template <class U>
void choose_digit(int shift, int bits, unsigned long long* counts, void* searches) {
  device::choose_digit(device::digit_place{shift, bits}, counts, searches_at<U>(searches));
}
template <class U>
void count_tiles(const U* keys, int64_t columns, int64_t rows, int64_t tiles, const void* searches, int64_t* ends) {
  device::count_tiles(device::plain_keys<U>{keys}, device::rank_job{columns, 0, 0}, rows, tiles,
                      searches_at<U>(searches), ends);
}
template <class U>
void write_tiles(const U* keys, int64_t columns, int64_t rank, int64_t limit, int64_t rows, int64_t tiles,
                 const void* searches, const int64_t* ends, U* to, int64_t* positions) {
  device::write_tiles(device::plain_keys<U>{keys}, device::plain_target<U>{to, positions},
                      device::rank_job{columns, rank, limit}, rows, tiles, searches_at<U>(searches), ends);
}

template <class U>
constexpr partition_kernels<U> kernels_of{longest_held,    device::rank_tile, divide_rows<U>, start<U>,
                                          count_digits<U>, choose_digit<U>,   count_tiles<U>, write_tiles<U>};

}  // namespace

const partition_kernels<std::uint32_t> partition_of_words = kernels_of<std::uint32_t>;
const partition_kernels<std::uint64_t> partition_of_long_words = kernels_of<std::uint64_t>;

}  // namespace emulated
