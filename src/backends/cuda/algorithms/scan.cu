// Scans: their distribution to threads, and the kernels of each element type.
#include "backends/cuda/algorithms/scan_parts.cuh"
#include "backends/cuda/algorithms/scan_values.cuh"

namespace sinter::cuda::device {
namespace {

/// Short rows, or so many that one warp per row keeps any GPU busy.
bool prefers_rows(i64 outer, i64 count) { return count <= 2048 || (outer >= 2048 && count <= 65536); }

constexpr i64 enough_columns = 65536, enough_threads = 131072;

void plan_rows(scan_plan& p) {
  const i64 vector = static_cast<i64>(16 / p.accumulator);
  if (!prefers_rows(p.outer, p.count)) {
    p.way = scan_way::tiles;
    return;
  }
  p.way = scan_way::rows;
  const i64 lanes = power_of_two_from(ceil_div(p.count, vector));
  p.lanes = lanes < 32 ? static_cast<int>(lanes) : 32;
}

void plan_columns(scan_plan& p) {
  if (p.inner <= 64 && p.count >= 256) {
    p.way = scan_way::strips;
    p.length = scan_threads / p.inner * strip_run(p.accumulator);
    p.segments = ceil_div(p.count, p.length);
    return;
  }
  p.way = scan_way::columns;
  const i64 columns = p.outer * p.inner;
  i64 segments = 1;
  if (columns < enough_columns) segments = ceil_div(enough_threads, columns);
  const i64 most = ceil_div(p.count, 32);
  if (segments > most) segments = most;
  if (segments > 4096) segments = 4096;
  p.length = ceil_div(p.count, segments);
  p.segments = ceil_div(p.count, p.length);
}

accumulator accumulator_of(element t) {
  switch (t) {
    case element::i64:
    case element::u64: return accumulator::u64;
    case element::f16:
    case element::bf16:
    case element::f32: return accumulator::f32;
    case element::f64: return accumulator::f64;
    case element::c64: return accumulator::c64;
    case element::c128: return accumulator::c128;
    default: return accumulator::u32;
  }
}
std::size_t bytes_of(accumulator a) {
  return a == accumulator::c128 ? 16 : a == accumulator::u32 || a == accumulator::f32 ? 4 : 8;
}
storage storage_of(element t) {
  if (t == element::f16) return storage::half;
  if (t == element::bf16) return storage::bfloat;
  return bytes_of(t) == 1 ? storage::bytes1 : bytes_of(t) == 2 ? storage::bytes2 : storage::own;
}

/// The flip that turns the extreme that a scan searches into the maximum.
u64 flip_of(element t, bool least) {
  if (is_complex(t)) return least ? u64{1} << (4 * bytes_of(t) - 1) : 0;
  if (is_float(t)) return least ? u64{1} << (t == element::f64 ? 63 : 31) : 0;
  const u64 sign = is_signed(t) ? u64{1} << (8 * bytes_of(t) - 1) : 0;
  const u64 all = bytes_of(t) == 8 ? ~u64{0} : (u64{1} << (8 * bytes_of(t))) - 1;
  return least ? sign ^ all : sign;
}

/// Sums of bools are disjunctions, and products conjunctions.
scan_kind kind_of(const scan_job& j) {
  if (j.type != element::b1) return j.kind;
  return j.kind == scan_kind::sum ? scan_kind::max : j.kind == scan_kind::prod ? scan_kind::min : j.kind;
}

scan_plan plan_of(const scan_job& j) { return plan_scan(j.outer, j.count, j.inner, bytes_of(accumulator_of(j.type))); }
bool is_empty(const scan_job& j) { return j.outer == 0 || j.count == 0 || j.inner == 0; }

}  // namespace

scan_plan plan_scan(i64 outer, i64 count, i64 inner, std::size_t bytes) {
  scan_plan p;
  p.outer = outer;
  p.count = count;
  p.inner = inner;
  p.accumulator = bytes;
  if (inner == 1) plan_rows(p);
  else plan_columns(p);
  return p;
}

scan_plan plan_totals(const scan_plan& p) { return plan_scan(p.outer * p.inner, p.segments, 1, p.accumulator); }

std::size_t scan_plan_scratch(const scan_plan& p) {
  if (p.way == scan_way::rows) return 0;
  if (p.way == scan_way::tiles)
    return static_cast<std::size_t>(p.outer * ceil_div(p.count, least_tile.length(p.accumulator))) *
           (p.accumulator / 4) * sizeof(u64);
  if (p.segments == 1) return 0;
  const std::size_t totals = static_cast<std::size_t>(p.outer * p.inner * p.segments) * p.accumulator;
  return ceil_div(totals, 256) * 256 + scan_plan_scratch(plan_totals(p));
}

std::size_t scan_scratch(const scan_job& j) { return is_empty(j) ? 0 : scan_plan_scratch(plan_of(j)); }

cudaError_t scan(const context& c, const scan_job& j, const void* from, void* to, void* scratch) {
  if (is_empty(j)) return cudaSuccess;
  const scan_plan p = plan_of(j);
  const accumulator a = accumulator_of(j.type);
  scan_data d{from, to, storage_of(j.type), 0};
  switch (kind_of(j)) {
    case scan_kind::sum: return scan_sums(c, a, p, d, scratch);
    case scan_kind::prod: d.flip = 1; return scan_products(c, a, p, d, scratch);
    case scan_kind::max: d.flip = flip_of(j.type, false); return scan_greatest(c, a, p, d, scratch);
    case scan_kind::min: d.flip = flip_of(j.type, true); return scan_greatest(c, a, p, d, scratch);
    case scan_kind::logaddexp: return is_float(j.type) ? scan_log_sums(c, a, p, d, scratch) : cudaErrorInvalidValue;
  }
  return cudaErrorInvalidValue;
}

}  // namespace sinter::cuda::device
