// The kernels that find the elements of a few ranks as host functions.
#include "emulated/kernels/ranks.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/ranks/bracket_kernels.cuh"

namespace sinter::cuda::device {
namespace {

template <class U>
struct row_keys {
  const U* base;
};
template <class U>
row_keys<U> row_at(row_keys<U> k, std::int64_t row, const ranks_job& j) {
  return {k.base + row * j.columns};
}
template <class U>
U key_at(const row_keys<U>& k, std::int64_t index) {
  return k.base[index];
}

template <class U>
struct rank_keys {
  U* base;
  std::int64_t stride;
};
template <class U>
void put_rank(const rank_keys<U>& to, std::int64_t row, int rank, U key) {
  to.base[row * to.stride + rank] = key;
}

}  // namespace
}  // namespace sinter::cuda::device

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
using std::int64_t;
static_assert(rank_threads == device::rank_threads && ranks_at_once == device::ranks_at_once);

constexpr int64_t longest_held = device::rank_rounds * device::rank_threads;
unsigned own_counts[device::ranks_at_once * device::long_digits];

device::ranks_job job_of(const rank_request& r) {
  device::ranks_job j{r.columns, r.capacity, r.digit_bits, static_cast<int>(r.ranks.size()), {}};
  std::copy(r.ranks.begin(), r.ranks.end(), j.at);
  return j;
}
template <class U>
device::rank_keys<U> target_of(U* to, const rank_request& r) {
  return {to, static_cast<int64_t>(r.ranks.size())};
}
template <class U>
device::ranks_search<U>* searches_at(void* p) {
  return static_cast<device::ranks_search<U>*>(p);
}

template <class U>
void find_held(const U* keys, const rank_request& r, int key_bits, U* to) {
  static U shared[longest_held];
  device::find_ranks_of_row(device::row_keys<U>{keys}, target_of(to, r), job_of(r), key_bits, shared, own_counts);
}
template <class U>
void start(void* searches, const rank_request& r) {
  device::start_rank_searches(searches_at<U>(searches), r.rows, job_of(r));
}
template <class U>
void count(const U* keys, const rank_request& r, int64_t blocks_of_row, int shift, int bits, void* searches, U* packed,
           unsigned long long* counts) {
  device::count_rank_digits(device::row_keys<U>{keys}, job_of(r), blocks_of_row, device::digit_place{shift, bits},
                            searches_at<U>(searches), packed, counts, own_counts);
}
template <class U>
void choose(const rank_request& r, int shift, int bits, unsigned long long* counts, void* searches, U* to) {
  device::choose_rank_digits(job_of(r), device::digit_place{shift, bits}, counts, searches_at<U>(searches),
                             target_of(to, r));
}
device::bracket_job brackets_of(const rank_request& r) {
  device::bracket_job b;
  device::bracket_ranks(job_of(r), b);
  return b;
}
template <class U>
device::rank_brackets<U>* brackets_at(void* p) {
  return static_cast<device::rank_brackets<U>*>(p);
}
template <class U>
bool find_brackets(const U* keys, const rank_request& r, int key_bits, void* brackets) {
  static U shared[device::sample_keys];
  device::bracket_job b;
  if (!device::bracket_ranks(job_of(r), b)) return false;
  device::find_brackets_of_row(device::row_keys<U>{keys}, r.columns, device::sample_job(b, 8), b, key_bits,
                               brackets_at<U>(brackets), shared, own_counts);
  return true;
}
template <int count, class U>
void count_some(const U* keys, const rank_request& r, int64_t blocks_of_row, void* searches, void* brackets,
                U* packed) {
  device::count_brackets<count>(device::row_keys<U>{keys}, job_of(r), blocks_of_row, searches_at<U>(searches),
                                brackets_at<U>(brackets), packed);
}
template <class U>
void count_brackets(const U* keys, const rank_request& r, int64_t blocks_of_row, void* searches, void* brackets,
                    U* packed) {
  switch (brackets_of(r).brackets) {
    case 1: return count_some<1>(keys, r, blocks_of_row, searches, brackets, packed);
    case 2: return count_some<2>(keys, r, blocks_of_row, searches, brackets, packed);
    case 3: return count_some<3>(keys, r, blocks_of_row, searches, brackets, packed);
    default: return count_some<4>(keys, r, blocks_of_row, searches, brackets, packed);
  }
}
template <class U>
void conclude(void* searches, const void* brackets, const rank_request& r) {
  device::conclude_brackets(searches_at<U>(searches), static_cast<const device::rank_brackets<U>*>(brackets), r.rows,
                            job_of(r), brackets_of(r));
}
template <class U>
bool is_packed(const void* searches, int64_t row) {
  return static_cast<const device::ranks_search<U>*>(searches)[row].is_packed;
}
template <class U>
int64_t packed_of(const void* searches, int64_t row) {
  return static_cast<int64_t>(static_cast<const device::ranks_search<U>*>(searches)[row].packed);
}

template <class U>
constexpr rank_kernels<U> kernels_of{longest_held,
                                     find_held<U>,
                                     sizeof(device::ranks_search<U>),
                                     start<U>,
                                     count<U>,
                                     choose<U>,
                                     find_brackets<U>,
                                     count_brackets<U>,
                                     conclude<U>,
                                     sizeof(device::rank_brackets<U>),
                                     is_packed<U>,
                                     packed_of<U>};

}  // namespace

const rank_kernels<std::uint32_t> ranks_of_words = kernels_of<std::uint32_t>;
const rank_kernels<std::uint64_t> ranks_of_long_words = kernels_of<std::uint64_t>;

}  // namespace emulated
