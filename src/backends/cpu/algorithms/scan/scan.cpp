// Inclusive scans. The scanned axis is divided into segments; the result for an element is the scan of its own segment
// joined with the total of the segments before, and these totals are joined one after the other. So the order of
// operations follows from the position along the axis alone: neither threads nor the other axes matter, and a scan of
// numbers that are not negative never decreases.
//
// Lanes are scans that run in parallel in vector registers: adjacent columns, or as many rows or segments of one row as
// hide the latency of an addition. Short rows, and long rows and columns where there are enough for all threads, are scanned
// from end to end, in one pass. Else all threads find the totals of a wave of segments, small enough to stay in the cache, then
// scan these.
#include <algorithm>
#include <utility>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/scan/scan_steps.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::scan_layout;

constexpr std::int64_t segment =
    528;  // elements along the axis; far from a power of 2, which would make cache lines collide
constexpr std::int64_t task_elements = 1 << 14;
constexpr int most_total_bytes = 16;
constexpr double step_time = 1;  // nanoseconds, of an element

std::int64_t segments_of(const scan_layout& l) noexcept { return (l.count + segment - 1) / segment; }

class scanner {
 public:
  scanner(const scan_layout& l, const void* from, void* to, void* totals)
      : l_(l),
        steps_(find_scan_steps(l.op, l.type)),
        from_(static_cast<const char*>(from)),
        to_(static_cast<char*>(to)),
        totals_(static_cast<char*>(totals)),
        rows_(l.inner == 1),
        segments_(segments_of(l)) {}

  void run() const {
    const int threads = runtime::thread_count();
    const std::int64_t strips = rows_ ? (l_.outer + scan_row_lanes - 1) / scan_row_lanes : l_.outer * column_blocks();
    // Rows that are too few for a strip of lanes go one by one: they are to be few among all.
    const bool whole = !rows_ || l_.outer % scan_row_lanes == 0 || l_.outer >= 8 * scan_row_lanes;
    if (segments_ == 1 || (whole && (threads == 1 || strips >= 2 * threads))) run_strips(strips);
    else run_waves(threads);
  }

 private:
  double all_elements() const noexcept { return static_cast<double>(l_.outer * l_.count * l_.inner); }
  std::int64_t column_blocks() const noexcept { return (l_.inner + scan_column_lanes - 1) / scan_column_lanes; }
  const char* from(std::int64_t i) const noexcept { return from_ + i * steps_.element_bytes; }
  char* to(std::int64_t i) const noexcept { return to_ + i * steps_.element_bytes; }
  char* totals(std::int64_t i) const noexcept { return totals_ + i * steps_.total_bytes; }

  void run_strips(std::int64_t strips) const {
    const std::int64_t lanes = rows_ ? scan_row_lanes : std::min<std::int64_t>(l_.inner, scan_column_lanes);
    const std::int64_t together = std::max<std::int64_t>(1, task_elements / (lanes * l_.count));
    runtime::parallel_for((strips + together - 1) / together, step_time * all_elements(), [&](std::int64_t task) {
      for (std::int64_t k = task * together; k < std::min(strips, (task + 1) * together); ++k)
        rows_ ? row_strip(k) : column_strip(k);
    });
  }

  /// Adjacent rows from end to end.
  void row_strip(std::int64_t strip) const {
    alignas(16) char memory[2][scan_row_lanes * most_total_bytes];
    const std::int64_t first = strip * scan_row_lanes, end = std::min(l_.outer, first + scan_row_lanes);
    const bool full = end - first == scan_row_lanes;
    for (std::int64_t row = first; row < end; row += full ? scan_row_lanes : 1) {
      char *before = memory[0], *total = memory[1];
      for (std::int64_t begin = 0; begin < l_.count; begin += segment) {
        const std::int64_t at = row * l_.count + begin, length = std::min(segment, l_.count - begin);
        (full ? steps_.rows : steps_.row)(from(at), to(at), l_.count, length, begin == 0 ? nullptr : before, total);
        if (begin > 0) steps_.join(before, total, full ? scan_row_lanes : 1);
        std::swap(before, total);
      }
    }
  }

  /// Adjacent columns from end to end.
  void column_strip(std::int64_t strip) const {
    alignas(16) char memory[2][scan_column_lanes * most_total_bytes];
    char *before = memory[0], *total = memory[1];
    const std::int64_t blocks = column_blocks(), column = strip % blocks * scan_column_lanes;
    const int width = static_cast<int>(std::min<std::int64_t>(scan_column_lanes, l_.inner - column));
    for (std::int64_t begin = 0; begin < l_.count; begin += segment) {
      const std::int64_t at = (strip / blocks * l_.count + begin) * l_.inner + column;
      const std::int64_t length = std::min(segment, l_.count - begin);
      steps_.columns(from(at), to(at), l_.inner, width, length, begin == 0 ? nullptr : before, total);
      if (begin > 0) steps_.join(before, total, width);
      std::swap(before, total);
    }
  }

  // Waves. Unit u is segment u % segments_ of slice u / segments_ of the outer axis, with inner totals of its own.

  void run_waves(int threads) const {
    const std::int64_t units = l_.outer * segments_, unit_elements = segment * l_.inner;
    const std::int64_t wave_elements = threads == 1 ? 1 << 16 : threads * (std::int64_t{1} << 18);
    const std::int64_t wave = std::max<std::int64_t>(scan_row_lanes, wave_elements / unit_elements);
    const std::int64_t together = std::max<std::int64_t>(1, task_elements / unit_elements);
    const auto in_parallel = [&](std::int64_t begin, std::int64_t end, bool store) {
      const double time = step_time * static_cast<double>((end - begin) * unit_elements);
      runtime::parallel_for((end - begin + together - 1) / together, time, [&](std::int64_t task) {
        const std::int64_t first = begin + task * together, last = std::min(end, first + together);
        rows_ ? row_units(first, last, store) : column_units(first, last, store);
      });
    };
    for (std::int64_t begin = 0; begin < units; begin += wave) {
      const std::int64_t end = std::min(units, begin + wave);
      in_parallel(begin, end, false);
      for (std::int64_t u = begin; u < end; ++u)
        if (u % segments_ != 0) steps_.join(totals((u - 1) * l_.inner), totals(u * l_.inner), l_.inner);
      in_parallel(begin, end, true);
    }
  }

  /// Finds the totals of units [begin, end) or, where `store`, scans them; their totals include all before by then.
  void row_units(std::int64_t begin, std::int64_t end, bool store) const {
    alignas(16) char ignored[scan_row_lanes * most_total_bytes];
    for (std::int64_t u = begin; u < end;) {
      const std::int64_t s = u % segments_, at = u / segments_ * l_.count + s * segment;
      // The first segment has no carry and the last may be short.
      const bool full = s > 0 && s + scan_row_lanes < segments_ && u + scan_row_lanes <= end;
      (full ? steps_.rows : steps_.row)(from(at), store ? to(at) : nullptr, segment,
                                        std::min(segment, l_.count - s * segment),
                                        store && s > 0 ? totals(u - 1) : nullptr, store ? ignored : totals(u));
      u += full ? scan_row_lanes : 1;
    }
  }

  void column_units(std::int64_t begin, std::int64_t end, bool store) const {
    alignas(16) char ignored[scan_column_lanes * most_total_bytes];
    for (std::int64_t u = begin; u < end; ++u) {
      const std::int64_t s = u % segments_, length = std::min(segment, l_.count - s * segment);
      for (std::int64_t c = 0; c < l_.inner; c += scan_column_lanes) {
        const std::int64_t at = (u / segments_ * l_.count + s * segment) * l_.inner + c;
        const int width = static_cast<int>(std::min<std::int64_t>(scan_column_lanes, l_.inner - c));
        steps_.columns(from(at), store ? to(at) : nullptr, l_.inner, width, length,
                       store && s > 0 ? totals((u - 1) * l_.inner + c) : nullptr,
                       store ? ignored : totals(u * l_.inner + c));
      }
    }
  }

  const scan_layout& l_;
  scan_steps steps_;
  const char* from_;
  char* to_;
  char* totals_;
  bool rows_;
  std::int64_t segments_;
};

}  // namespace

std::size_t cpu_algorithms::scan_scratch(const scan_layout& l) {
  const std::int64_t segments = segments_of(l);
  if (segments <= 1) return 0;
  return static_cast<std::size_t>(l.outer * segments * l.inner * find_scan_steps(l.op, l.type).total_bytes);
}

void cpu_algorithms::scan(const scan_layout& l, const void* from, void* to, void* scratch) {
  if (l.outer == 0 || l.count == 0 || l.inner == 0) return;
  scanner(l, from, to, scratch).run();
}

}  // namespace sinter::cpu
