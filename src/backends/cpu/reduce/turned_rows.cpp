#include "backends/cpu/reduce/turned_rows.hpp"

#include <algorithm>

namespace sinter::cpu {
namespace {

constexpr std::int64_t least_rows = 8, least_terms = 8;  // of which vectors are filled

bool lies_in(const unchanged_memory& m, const char* begin, const char* end) {
  const auto* const first = static_cast<const char*>(m.begin);
  return first <= begin && end <= first + m.bytes;
}

/// (rows, columns), rows `stride` bytes apart, as (columns, rows).
template <class T>
void turn(char* to, const void* from, std::int64_t stride, int rows, int columns) {
  auto* const out = reinterpret_cast<T*>(to);
  for (int i = 0; i < rows; ++i) {
    const T* const row = reinterpret_cast<const T*>(static_cast<const char*>(from) + i * stride);
    for (int k = 0; k < columns; ++k) out[k * rows + i] = row[k];
  }
}

}  // namespace

std::unique_ptr<turned_rows> turned_rows::make(const reduce_job& job, std::span<const unchanged_memory> unchanged) {
  if (job.rows_in_memory.size() != 1 || job.reducers.size() != 1 || job.split.groups != 1 || job.split.chunks != 1)
    return nullptr;
  const reducer& r = *job.reducers[0];
  row_pair rows = job.rows_in_memory[0];
  if (!rows.b || !r.by_groups || !r.product_columns || job.shape.results < least_rows ||
      job.shape.reduced < least_terms)
    return nullptr;
  if (rows.stride_a == 0) rows = {rows.b, rows.stride_b, rows.a, rows.stride_a};
  if (rows.stride_a <= 0 || rows.stride_b != 0) return nullptr;
  const auto* const begin = static_cast<const char*>(rows.a);
  const char* const end =
      begin + (job.shape.results - 1) * rows.stride_a + job.shape.reduced * static_cast<std::int64_t>(r.bytes[0]);
  const auto stays = [&](const unchanged_memory& m) { return lies_in(m, begin, end); };
  if (std::none_of(unchanged.begin(), unchanged.end(), stays)) return nullptr;
  return std::unique_ptr<turned_rows>(new turned_rows(job, rows));
}

turned_rows::turned_rows(const reduce_job& job, const row_pair& rows)
    : reducer_(*job.reducers[0]),
      tree_(job.tree()),
      rows_(static_cast<int>(job.shape.results)),
      columns_(static_cast<int>(job.shape.reduced)),
      size_(static_cast<std::size_t>(job.reducers[0]->bytes[0])),
      vector_(rows.b) {
  const auto all = static_cast<std::size_t>(rows_), lanes = static_cast<std::size_t>(tree_.lanes);
  matrix_.resize(all * static_cast<std::size_t>(columns_) * size_);
  const auto copy = size_ == sizeof(double) ? turn<std::uint64_t> : turn<std::uint32_t>;
  copy(matrix_.data(), rows.a, rows.stride_a, rows_, columns_);
  memory_.resize((lanes + 2) * all * size_);
  planes_[0] = memory_.data();
  planes_[1] = memory_.data() + lanes * all * size_;
}

void* const* turned_rows::sums() {
  const column_place first{0, tree_.lanes, rows_};
  const auto bytes = static_cast<std::int64_t>(size_);
  reducer_.reset(planes_, tree_.lanes * rows_);
  reducer_.product_columns(planes_, {matrix_.data(), rows_ * bytes, vector_, bytes}, columns_, rows_, first);
  reducer_.close_columns(planes_, rows_, {columns_, tree_.lanes, rows_});
  join_lanes();
  return planes_;
}

void turned_rows::join_lanes() {
  const auto join = [&](int to, int from, int lanes) {
    const auto at = [&](int lane) { return memory_.data() + static_cast<std::size_t>(lane * rows_) * size_; };
    void *a[max_planes] = {at(to)}, *b[max_planes] = {at(from)};
    reducer_.join(a, b, lanes * rows_);
  };
  if (tree_.halves) {
    for (int half = tree_.lanes / 2; half > 0; half /= 2) join(0, half, half);
    return;
  }
  const auto run = static_cast<int>(jit::addition_run);
  for (int d = 1; d < tree_.lanes && d < run; d *= 2)
    for (int l = 0; l < tree_.lanes; l += 2 * d) join(l, l + d, 1);
  for (int l = run; l < tree_.lanes; l += run) join(0, l, 1);
}

}  // namespace sinter::cpu
