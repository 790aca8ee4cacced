// Products with dense vectors and matrices. A result's sums are taken in an order that follows from the matrix alone: of A
// along each row, of its transpose in the order of rows within a fixed number of parts, whose sums are
// added in order; of a band in the order of every other part, then of those between.
#include <cstring>

#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;
using runtime::sparse_product;

/// About what an entry takes, in nanoseconds.
constexpr double time_of_entry = 1.0;

/// Sum of a row's products, of a number that the compiler knows.
template <int Count, class T, class I>
T dot_of_short_row(const T* data, const I* columns, const T* x) {
  T sum{};
  for (int k = 0; k < Count; ++k) sum += data[k] * x[columns[k]];
  return sum;
}
/// Sum of a row's products; four sums side by side where the row is long.
template <class T, class I>
T dot_of_row(const T* data, const I* columns, std::int64_t count, const T* x) {
  T sum{};
  std::int64_t k = 0;
  if (count >= 8) {
    T a{}, b{}, c{}, d{};
    for (; k + 4 <= count; k += 4) {
      a += data[k] * x[columns[k]];
      b += data[k + 1] * x[columns[k + 1]];
      c += data[k + 2] * x[columns[k + 2]];
      d += data[k + 3] * x[columns[k + 3]];
    }
    sum = (a + b) + (c + d);
  }
  for (; k < count; ++k) sum += data[k] * x[columns[k]];
  return sum;
}
template <class T>
T sum_of_row(const T* data, std::int64_t count) {
  T sum{};
  std::int64_t k = 0;
  if (count >= 8) {
    T a{}, b{}, c{}, d{};
    for (; k + 4 <= count; k += 4) a += data[k], b += data[k + 1], c += data[k + 2], d += data[k + 3];
    sum = (a + b) + (c + d);
  }
  for (; k < count; ++k) sum += data[k];
  return sum;
}

template <class T>
struct scaling {
  T alpha, beta;
  bool scaled, added, plain;
  const T* y;
  explicit scaling(const sparse_product& p)
      : alpha(element_of<T>(p.alpha)),
        beta(element_of<T>(p.beta)),
        scaled(p.alpha != 1.0),
        added(p.y != nullptr),
        plain(p.beta == 1.0),
        y(static_cast<const T*>(p.y)) {}
  T operator()(T sum, std::int64_t at) const {
    if (scaled) sum = alpha * sum;
    if (added) sum = sum + (plain ? y[at] : beta * y[at]);
    return sum;
  }
};

/// Rows from r on that have `Count` entries each, as those of stencils and graphs have: one after the other, without a jump for each.
/// Returns the next row.
template <int Count, class T, class I>
std::int64_t times_short_rows(const typed_rows<T, I>& a, const T* x, const scaling<T>& scale, T* result, std::int64_t r,
                              std::int64_t last) {
  const T* data = a.data + a.indptr[r];
  const I* columns = a.indices + a.indptr[r];
  do {
    result[r] = scale(dot_of_short_row<Count>(data, columns, x), r);
    data += Count, columns += Count, ++r;
  } while (r < last && a.indptr[r + 1] - a.indptr[r] == Count);
  return r;
}

/// A times a vector, or sums of rows.
template <class T, class I>
void times_vector(const typed_rows<T, I>& a, const sparse_product& p, T* result, std::int64_t first,
                  std::int64_t last) {
  const scaling<T> scale(p);
  const T* const x = static_cast<const T*>(p.x);
  for (std::int64_t r = first; r < last;) {
    const auto from = static_cast<std::int64_t>(a.indptr[r]), count = static_cast<std::int64_t>(a.indptr[r + 1]) - from;
    switch (x ? count : 0) {
      case 1: r = times_short_rows<1>(a, x, scale, result, r, last); continue;
      case 2: r = times_short_rows<2>(a, x, scale, result, r, last); continue;
      case 3: r = times_short_rows<3>(a, x, scale, result, r, last); continue;
      case 4: r = times_short_rows<4>(a, x, scale, result, r, last); continue;
      case 5: r = times_short_rows<5>(a, x, scale, result, r, last); continue;
      case 6: r = times_short_rows<6>(a, x, scale, result, r, last); continue;
      case 7: r = times_short_rows<7>(a, x, scale, result, r, last); continue;
      default: break;
    }
    const T sum = x ? dot_of_row(a.data + from, a.indices + from, count, x) : sum_of_row(a.data + from, count);
    result[r] = scale(sum, r);
    ++r;
  }
}

/// A times a matrix: the sums of a block of columns are kept in registers.
template <class T, class I, int Block>
void times_block(const typed_rows<T, I>& a, const T* x, std::int64_t width, std::int64_t row, T* sums) {
  T sum[Block] = {};
  const auto end = static_cast<std::int64_t>(a.indptr[row + 1]);
  for (auto k = static_cast<std::int64_t>(a.indptr[row]); k < end; ++k) {
    const T v = a.data[k];
    const T* const from = x + static_cast<std::int64_t>(a.indices[k]) * width;
    for (int j = 0; j < Block; ++j) sum[j] += v * from[j];
  }
  for (int j = 0; j < Block; ++j) sums[j] = sum[j];
}
template <class T, class I>
void times_matrix(const typed_rows<T, I>& a, const sparse_product& p, T* result, std::int64_t first,
                  std::int64_t last) {
  const scaling<T> scale(p);
  const T* const x = static_cast<const T*>(p.x);
  T sums[16];
  for (std::int64_t r = first; r < last; ++r) {
    std::int64_t j = 0;
    const auto store = [&](int n) {
      for (int i = 0; i < n; ++i) result[r * p.width + j + i] = scale(sums[i], r * p.width + j + i);
      j += n;
    };
    while (p.width - j >= 16) times_block<T, I, 16>(a, x + j, p.width, r, sums), store(16);
    if (p.width - j >= 8) times_block<T, I, 8>(a, x + j, p.width, r, sums), store(8);
    if (p.width - j >= 4) times_block<T, I, 4>(a, x + j, p.width, r, sums), store(4);
    if (p.width - j >= 2) times_block<T, I, 2>(a, x + j, p.width, r, sums), store(2);
    if (p.width - j >= 1) times_block<T, I, 1>(a, x + j, p.width, r, sums), store(1);
  }
}

/// In how many parts the rows are for a transposed product that is no band's: each has sums of its own. So there must be
/// many more entries than columns, or rows that ascend, of which a part may have a few columns only.
std::int64_t transposed_parts(const sparse_matrix& a) {
  const std::int64_t dense = std::clamp<std::int64_t>(a.entries / (3 * a.columns + 4096), 1, 8);
  return a.ascends && a.indices && a.entries > 1 << 18 ? std::max<std::int64_t>(dense, 4) : dense;
}

/// The columns of a part: all, or those between the first and the last ones of its rows.
struct column_range {
  std::int64_t first = 0, last = 0;
};
template <class I>
column_range columns_of(const sparse_matrix& a, std::int64_t first, std::int64_t last) {
  if (!a.ascends) return {0, a.columns};
  const I *const indptr = static_cast<const I*>(a.indptr), *const indices = static_cast<const I*>(a.indices);
  column_range range{a.columns, 0};
  for (std::int64_t r = first; r < last; ++r) {
    if (indptr[r] == indptr[r + 1]) continue;
    range.first = std::min<std::int64_t>(range.first, indices[indptr[r]]);
    range.last = std::max<std::int64_t>(range.last, indices[indptr[r + 1] - 1] + 1);
  }
  return range.first < range.last ? range : column_range{};
}

/// Whether what entries of one row and the next add to lies far apart, as of random matrices, but not of bands and stencils, whose
/// sums follow each other: looked up in the middle of some rows.
template <class T, class I>
bool is_scattered(const typed_rows<T, I>& a, std::int64_t bytes_of_sum) {
  constexpr std::int64_t near_cache = std::int64_t{1} << 20, far = std::int64_t{1} << 14, looks = 32;
  if (a.columns * bytes_of_sum <= near_cache || a.rows < 2) return false;
  std::int64_t seen = 0, apart = 0;
  for (std::int64_t look = 0; look < looks; ++look) {
    const std::int64_t r = (a.rows - 2) * look / looks;
    const auto first = static_cast<std::int64_t>(a.indptr[r]), second = static_cast<std::int64_t>(a.indptr[r + 1]),
               end = static_cast<std::int64_t>(a.indptr[r + 2]);
    if (first == second || second == end) continue;
    const auto here = static_cast<std::int64_t>(a.indices[(first + second) / 2]),
               there = static_cast<std::int64_t>(a.indices[(second + end) / 2]);
    ++seen;
    apart += std::abs(here - there) * bytes_of_sum > far;
  }
  return 2 * apart > seen;
}

/// Asks for `bytes` bytes from `at` on, which will be written.
inline void ask_for(const void* at, std::size_t bytes) {
  for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(static_cast<const char*>(at) + b, 1);
}

/// The entries of a row that ascends, from `begin` to `end`, in a range of columns.
template <class I>
void clip_row(const I* indices, column_range to, std::int64_t& begin, std::int64_t& end) {
  constexpr std::int64_t few = 32;
  if (begin == end || (indices[begin] >= to.first && indices[end - 1] < to.last)) return;
  if (end - begin > few) {
    end = std::lower_bound(indices + begin, indices + end, static_cast<I>(to.last)) - indices;
    begin = std::lower_bound(indices + begin, indices + end, static_cast<I>(to.first)) - indices;
    return;
  }
  while (begin < end && indices[begin] < to.first) ++begin;
  while (begin < end && indices[end - 1] >= to.last) --end;
}

/// Adds the products of some rows with `Width` columns of X from `x` on (0: with `count`) to as many sums of all columns of A, or, where
/// rows ascend, of those in a range.
/// Early: sums of entries further on are asked for, since none of these additions can begin before its sum has come, and few of them
/// wait at a time.
template <int Width, bool Early, class T, class I>
void scatter_block(const typed_rows<T, I>& a, const T* x, std::int64_t width, std::int64_t count, std::int64_t first,
                   std::int64_t last, column_range to, T* sums) {
  constexpr std::int64_t ahead = 12;
  const bool clipped = to.first > 0 || to.last < a.columns;
  const std::int64_t many = Width == 0 ? count : Width;
  [[maybe_unused]] const std::int64_t last_entry = static_cast<std::int64_t>(a.indptr[last]) - 1;
  for (std::int64_t r = first; r < last; ++r) {
    auto begin = static_cast<std::int64_t>(a.indptr[r]), end = static_cast<std::int64_t>(a.indptr[r + 1]);
    if (clipped) {
      clip_row(a.indices, to, begin, end);
      if (begin == end) continue;
    }
    T of_row[Width == 0 ? 1 : Width];
    for (int j = 0; j < Width; ++j) of_row[j] = x[r * width + j];
    const T* const all_of_row = Width == 0 ? x + r * width : of_row;
    for (std::int64_t k = begin; k < end; ++k) {
      if constexpr (Early)
        ask_for(sums + static_cast<std::int64_t>(a.indices[std::min(k + ahead, last_entry)]) * width,
                static_cast<std::size_t>(many) * sizeof(T));
      const T v = a.data[k];
      T* const of_column = sums + static_cast<std::int64_t>(a.indices[k]) * width;
      for (std::int64_t j = 0; j < many; ++j) of_column[j] += v * all_of_row[j];
    }
  }
}
template <bool Early, class T, class I>
void scatter_widths(const typed_rows<T, I>& a, const T* x, std::int64_t width, std::int64_t count, std::int64_t first,
                    std::int64_t last, column_range to, T* sums) {
  switch (count) {
    case 4: return scatter_block<4, Early>(a, x, width, count, first, last, to, sums);
    case 8: return scatter_block<8, Early>(a, x, width, count, first, last, to, sums);
    case 16: return scatter_block<16, Early>(a, x, width, count, first, last, to, sums);
    default: return scatter_block<0, Early>(a, x, width, count, first, last, to, sums);
  }
}
template <class T, class I>
void scatter_wide(const typed_rows<T, I>& a, const T* x, std::int64_t width, std::int64_t count, std::int64_t first,
                  std::int64_t last, column_range to, T* sums) {
  if (is_scattered(a, width * static_cast<std::int64_t>(sizeof(T))))
    return scatter_widths<true>(a, x, width, count, first, last, to, sums);
  scatter_widths<false>(a, x, width, count, first, last, to, sums);
}
/// Adds the products of some rows to sums of all columns.
template <class T, class I>
void scatter_rows(const typed_rows<T, I>& a, const sparse_product& p, std::int64_t first, std::int64_t last, T* sums) {
  const T* const x = static_cast<const T*>(p.x);
  if (x && p.width > 1) return scatter_wide(a, x, p.width, p.width, first, last, {0, a.columns}, sums);
  for (std::int64_t r = first; r < last; ++r) {
    const auto end = static_cast<std::int64_t>(a.indptr[r + 1]);
    auto k = static_cast<std::int64_t>(a.indptr[r]);
    if (x) {
      const T of_row = x[r];
      for (; k < end; ++k) sums[a.indices[k]] += a.data[k] * of_row;
    } else {
      for (; k < end; ++k) sums[a.indices[k]] += a.data[k];
    }
  }
}

/// All rows in one part: sums are the result.
template <class T, class I>
void scatter_all(const typed_rows<T, I>& a, const sparse_product& p, T* result, T* scratch) {
  const scaling<T> scale(p);
  const std::int64_t size = a.columns * p.width;
  T* const sums = scale.added ? scratch : result;  // the result may be what is added
  std::fill(sums, sums + size, T{});
  scatter_rows(a, p, 0, a.rows, sums);
  if (scale.added || scale.scaled)
    for (std::int64_t i = 0; i < size; ++i) result[i] = scale(sums[i], i);
}

/// Parts of rows whose columns lie one after the other, but for what neighbours have in common.
struct band {
  std::vector<std::int64_t> rows;
  std::vector<column_range> ranges;
};
constexpr std::int64_t band_parts = 16;

/// The parts of a matrix whose rows ascend, if it is large and a band; else nothing in them.
template <class I>
band band_of(const sparse_matrix& m) {
  if (!m.ascends || !m.indices || m.entries <= 1 << 18 || m.rows < band_parts) return {};
  band b{divided_rows(static_cast<const I*>(m.indptr), m.rows, band_parts), std::vector<column_range>(band_parts)};
  const auto look = [&](std::size_t part) { b.ranges[part] = columns_of<I>(m, b.rows[part], b.rows[part + 1]); };
  look(band_parts / 2);
  if (4 * (b.ranges[band_parts / 2].last - b.ranges[band_parts / 2].first) > m.columns) return {};
  runtime::parallel_for(band_parts, 2.0 * static_cast<double>(m.rows), [&](std::int64_t part) {
    if (part != band_parts / 2) look(static_cast<std::size_t>(part));
  });
  std::int64_t reached = 0, before = 0;  // by the parts up to the one before the last one, and by the last one
  for (const column_range& r : b.ranges) {
    if (r.first < reached || r.last < before || r.first >= r.last) return {};
    reached = before;
    before = r.last;
  }
  return b;
}

/// Parts that have columns in common with their neighbours only: every other one at a time, so that all add to one array of
/// sums, those of the first half before those of the second.
template <class T, class I>
void times_transposed_band(const typed_rows<T, I>& a, const sparse_product& p, const band& b, double time, T* result,
                           T* scratch) {
  const scaling<T> scale(p);
  const std::int64_t size = a.columns * p.width;
  T* const sums = scale.added ? scratch : result;  // the result may be what is added
  for (std::int64_t half = 0; half < 2; ++half) {
    runtime::parallel_for(band_parts / 2, time / 2, [&](std::int64_t k) {
      const auto part = static_cast<std::size_t>(2 * k + half);
      if (half == 0) {
        const std::int64_t from = k == 0 ? 0 : b.ranges[part].first,
                           to = part + 2 < b.ranges.size() ? b.ranges[part + 2].first : a.columns;
        std::fill(sums + from * p.width, sums + to * p.width, T{});
      }
      scatter_rows(a, p, b.rows[part], b.rows[part + 1], sums);
    });
  }
  if (!scale.added && !scale.scaled) return;
  constexpr std::int64_t block = 4096;
  runtime::parallel_for((size + block - 1) / block, 0.5 * static_cast<double>(size), [&](std::int64_t at) {
    const std::int64_t end = std::min(size, (at + 1) * block);
    for (std::int64_t i = at * block; i < end; ++i) result[i] = scale(sums[i], i);
  });
}

/// Ranges of the columns of A with about as many entries, by what a sample of the entries has.
template <class T, class I>
std::vector<column_range> shares_of_columns(const typed_rows<T, I>& a, std::int64_t entries, std::int64_t shares) {
  constexpr std::int64_t sampled = 512;
  std::vector<std::int64_t> sample;
  for (std::int64_t k = 0; k < sampled && entries > 0; ++k) sample.push_back(a.indices[entries * k / sampled]);
  std::sort(sample.begin(), sample.end());
  std::vector<column_range> ranges;
  for (std::int64_t s = 0, from = 0; s < shares; ++s) {
    const auto end = static_cast<std::size_t>(sampled * (s + 1) / shares);
    const std::int64_t to = end < sample.size() ? std::max(from, sample[end]) : a.columns;
    ranges.push_back({from, to});
    from = to;
  }
  return ranges;
}

/// Of so many columns of X there is one array of sums, to which all rows add in order: bits do not depend on how many threads there are,
/// and nothing is added up twice. Where rows ascend, threads take the sums of some columns of A each; else some columns of X,
/// at least a cache line of each sum, since lines that two threads write go to and fro.
constexpr std::int64_t wide = 8;
bool is_wide(const sparse_product& p) { return p.x && p.width >= wide; }
template <class T, class I>
void times_transposed_wide(const sparse_matrix& m, const sparse_product& p, double time, T* result, T* scratch) {
  const typed_rows<T, I> a(m);
  const scaling<T> scale(p);
  constexpr std::int64_t line = std::max<std::int64_t>(1, 64 / static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t size = a.columns * p.width, threads = runtime::thread_count();
  T* const sums = scale.added ? scratch : result;  // the result may be what is added
  const T* const x = static_cast<const T*>(p.x);
  if (m.ascends) {
    constexpr double least_share = 50e3;  // nanoseconds: a share looks at the ends of all rows
    const std::int64_t shares = std::clamp<std::int64_t>(static_cast<std::int64_t>(time / least_share), 1, threads);
    const auto ranges = shares_of_columns(a, m.entries, shares);
    runtime::parallel_for(shares, time, [&](std::int64_t b) {
      const column_range to = ranges[static_cast<std::size_t>(b)];
      std::fill(sums + to.first * p.width, sums + to.last * p.width, T{});
      if (to.first < to.last) scatter_wide(a, x, p.width, p.width, 0, a.rows, to, sums);
    });
  } else {
    const std::int64_t lines = p.width / line, blocks = std::clamp<std::int64_t>(lines, 1, threads);
    runtime::parallel_for(blocks, time, [&](std::int64_t b) {
      const std::int64_t first = lines * b / blocks * line,
                         last = b + 1 < blocks ? lines * (b + 1) / blocks * line : p.width;
      for (std::int64_t c = 0; c < a.columns; ++c)
        std::fill(sums + c * p.width + first, sums + c * p.width + last, T{});
      scatter_wide(a, x + first, p.width, last - first, 0, a.rows, {0, a.columns}, sums + first);
    });
  }
  if (!scale.added && !scale.scaled) return;
  constexpr std::int64_t block = 4096;
  runtime::parallel_for((size + block - 1) / block, 0.5 * static_cast<double>(size), [&](std::int64_t at) {
    const std::int64_t end = std::min(size, (at + 1) * block);
    for (std::int64_t i = at * block; i < end; ++i) result[i] = scale(sums[i], i);
  });
}

template <class T, class I>
void times_transposed(const sparse_matrix& m, const sparse_product& p, T* result, T* scratch) {
  const typed_rows<T, I> a(m);
  const scaling<T> scale(p);
  const double time = time_of_entry * static_cast<double>(m.entries) * static_cast<double>(p.width);
  if (is_wide(p)) return times_transposed_wide<T, I>(m, p, time, result, scratch);
  if (const band b = band_of<I>(m); !b.rows.empty())
    return times_transposed_band<T, I>(a, p, b, 2 * time, result, scratch);
  const std::int64_t parts = transposed_parts(m);
  const std::int64_t size = a.columns * p.width;
  if (parts == 1) return scatter_all(a, p, result, scratch);
  const std::vector<std::int64_t> rows = divided_rows(a.indptr, a.rows, parts);
  std::vector<column_range> ranges(static_cast<std::size_t>(parts));
  std::int64_t columns = 0;
  for (std::size_t part = 0; part < ranges.size(); ++part) {
    ranges[part] = columns_of<I>(m, rows[part], rows[part + 1]);
    columns += ranges[part].last - ranges[part].first;
    if (3 * columns > 6 * a.columns + m.entries) return scatter_all(a, p, result, scratch);
  }
  runtime::parallel_for(parts, 2 * time, [&](std::int64_t part) {
    const auto at = static_cast<std::size_t>(part);
    T* const sums = scratch + part * size;
    std::fill(sums + ranges[at].first * p.width, sums + ranges[at].last * p.width, T{});
    scatter_rows(a, p, rows[at], rows[at + 1], sums);
  });
  constexpr std::int64_t block = 4096;
  const double adding = 0.5 * static_cast<double>((columns + a.columns) * p.width);
  runtime::parallel_for((size + block - 1) / block, adding, [&](std::int64_t b) {
    const std::int64_t first = b * block, end = std::min(size, first + block);
    T sum[block] = {};
    for (std::size_t part = 0; part < ranges.size(); ++part) {
      const std::int64_t from = std::max(first, ranges[part].first * p.width),
                         to = std::min(end, ranges[part].last * p.width);
      const T* const more = scratch + static_cast<std::int64_t>(part) * size;
      for (std::int64_t i = from; i < to; ++i) sum[i - first] += more[i];
    }
    for (std::int64_t i = first; i < end; ++i) result[i] = scale(sum[i - first], i);
  });
}

template <class T, class I>
void times_rows(const sparse_matrix& m, const sparse_product& p, T* result) {
  const typed_rows<T, I> a(m);
  const std::int64_t parts = std::min(parts_of(m.entries * std::min<std::int64_t>(p.width, 64), m.rows), m.rows);
  if (parts == 0) return;
  const std::vector<std::int64_t> rows = divided_rows(a.indptr, a.rows, parts);
  const double time = time_of_entry * static_cast<double>(m.entries + m.rows) * static_cast<double>(p.width);
  runtime::parallel_for(parts, time, [&](std::int64_t part) {
    const std::int64_t first = rows[static_cast<std::size_t>(part)], last = rows[static_cast<std::size_t>(part + 1)];
    if (p.width == 1) times_vector(a, p, result, first, last);
    else times_matrix(a, p, result, first, last);
  });
}

}  // namespace

std::size_t cpu_sparse::multiply_scratch(const sparse_matrix& a, const sparse_product& p) const {
  if (!p.transposed) return 0;
  if (is_wide(p)) return p.y ? static_cast<std::size_t>(a.columns * p.width) * itemsize(a.type) : 0;
  return static_cast<std::size_t>(transposed_parts(a) * a.columns * p.width) * itemsize(a.type);
}

void cpu_sparse::multiply(const sparse_matrix& a, const sparse_product& p, void* result, void* scratch) {
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    if (p.transposed) times_transposed<T, I>(a, p, static_cast<T*>(result), static_cast<T*>(scratch));
    else times_rows<T, I>(a, p, static_cast<T*>(result));
  });
}

}  // namespace sinter::cpu
