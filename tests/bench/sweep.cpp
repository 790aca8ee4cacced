// Times basic operations over many shapes, dtypes and layouts, and prints each time over its bound: what a launch takes,
// and the bytes of operands and results over the bandwidth of a copy of so many. A point that is more than twice a neighbour's
// part of its bound is a cliff, and is named at the end; the points that are compared differ in one extent, in the rank,
// in the dtype, or in the layout alone.
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lines/lines.hpp"

namespace bench {
namespace {

using namespace sn::idx;
using std::int64_t;

// ---- operands

enum class layout { contiguous, inner, every_other, transposed };

const char* name_of(layout l) {
  constexpr const char* names[] = {"contiguous", "slices 1:-1", "every other element", "transposed"};
  return names[static_cast<int>(l)];
}

using extents = std::vector<int64_t>;

int64_t product(const extents& shape) {
  int64_t n = 1;
  for (auto e : shape) n *= e;
  return n;
}

struct point {
  std::string label;
  extents shape;
  sn::dtype type = sn::float32;
  bench::layout layout = layout::contiguous;
};

/// Elements that operands are views of: made once for a dtype, and again where more are needed.
class elements {
 public:
  ndarray take(int which, sn::dtype type, int64_t count) {
    auto& x = made_[{which, type}];
    if (!x.defined() || x.size() < count) {
      x = ndarray();
      x = (scattered({count}) * (which == 0 ? 100.0 : 50.0)).astype(type).copy();
      sn::eval(x);
    }
    return x(slice(0, count));
  }
  void clear() { made_.clear(); }

 private:
  std::map<std::pair<int, sn::dtype>, ndarray> made_;
};

ndarray operand(elements& from, int which, const point& p) {
  extents shape = p.shape;
  if (p.layout == layout::every_other) shape.back() *= 2;
  if (p.layout == layout::inner)
    for (auto& e : shape) e += 2;
  if (p.layout == layout::transposed) std::reverse(shape.begin(), shape.end());
  ndarray x = sn::reshape(from.take(which, p.type, product(shape)), shape);
  if (p.layout == layout::transposed) return x.T();
  if (p.layout == layout::every_other) return x(ellipsis, slice(_, _, 2));
  if (p.layout == layout::inner)
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      x = sn::swapaxes(sn::swapaxes(x, 0, static_cast<int64_t>(axis))(slice(1, -1)), 0, static_cast<int64_t>(axis));
  return x;
}

// ---- operations

struct operation {
  const char* name;
  ndarray (*record)(const ndarray& x, const ndarray& y);
  double (*passes)(const ndarray& x) = [](const ndarray&) { return 1.0; };  // over the bytes of operands and results
  bool two_operands = false;
  bool sizes = true, rows = false, ranks = false, transposed_rows = false, layouts_of_dtypes = true;
};

sn::dtype other_type(sn::dtype t) {
  if (t == sn::complex128) return sn::complex64;
  if (t == sn::complex64) return sn::complex128;
  return t == sn::float64 ? sn::float32 : sn::float64;
}

const sn::reduce_kw keep{.keepdims = true};

ndarray softmax(const ndarray& x) {
  const auto e = sn::exp(x - sn::max(x, -1, keep));
  return e / sn::sum(e, -1, keep);
}

/// A digit of a radix sort has eight bits.
double passes_of_sort(const ndarray& x) { return static_cast<double>(sn::itemsize(x.dtype())); }

/// What would be a copy negates: a copy that nobody writes to is not made.
const std::vector<operation> operations = {
    {.name = "add",
     .record = [](const ndarray& x, const ndarray& y) { return x + y; },
     .two_operands = true,
     .ranks = true},
    {.name = "negate",
     .record = [](const ndarray& x, const ndarray&) { return x.dtype() == sn::bool_ ? ~x : -x; },
     .ranks = true,
     .transposed_rows = true},
    {.name = "cast", .record = [](const ndarray& x, const ndarray&) { return x.astype(other_type(x.dtype())); }},
    {.name = "sum", .record = [](const ndarray& x, const ndarray&) { return sn::sum(x); }, .rows = true, .ranks = true},
    {.name = "sum of the last axis",
     .record = [](const ndarray& x, const ndarray&) { return sn::sum(x, -1); },
     .rows = true,
     .ranks = true},
    {.name = "sum of the first axis",
     .record = [](const ndarray& x, const ndarray&) { return sn::sum(x, 0); },
     .sizes = false,
     .rows = true,
     .ranks = true},
    {.name = "softmax of the last axis",
     .record = [](const ndarray& x, const ndarray&) { return softmax(x); },
     .rows = true,
     .ranks = true},
    {.name = "argmax of the last axis",
     .record = [](const ndarray& x, const ndarray&) { return sn::argmax(x, -1); },
     .rows = true,
     .ranks = true},
    {.name = "cumsum of the last axis",
     .record = [](const ndarray& x, const ndarray&) { return sn::cumsum(x, -1); },
     .rows = true,
     .layouts_of_dtypes = false},
    {.name = "sort of the last axis",
     .record = [](const ndarray& x, const ndarray&) { return sn::sort(x, -1); },
     .passes = passes_of_sort,
     .rows = true,
     .layouts_of_dtypes = false},
};

/// x[i] of rank 1 for i in no order: each element read is a sector of 32 bytes.
double gather_bytes(const point& p) {
  return static_cast<double>(p.shape[0]) * (8.0 + 32.0 + static_cast<double>(sn::itemsize(p.type)));
}

// ---- measuring

class sweep {
 public:
  sweep(bool small, double seconds, std::string only) : small_(small), only_(std::move(only)), ends_(now() + seconds) {
    gpu_ = sn::default_device().kind == sn::device_kind::cuda;
    most_ = int64_t{1} << (small ? 16 : gpu_ ? 30 : 26);
    const auto fits = static_cast<int64_t>(sn::memory(sn::default_device()).available / 32);
    while (most_ > fits) most_ /= 4;
    total_ = int64_t{1} << (small ? 14 : gpu_ ? 26 : 22);
    calibrate();
  }

  void run() {
    for (const operation& o : operations) {
      if (std::string(o.name).find(only_) == std::string::npos) continue;
      if (o.sizes) sizes(o);
      if (o.rows || o.transposed_rows) rows(o);
      if (o.ranks) ranks(o);
      dtypes(o);
    }
    if (std::string("gather").find(only_) != std::string::npos) gathers();
    print_cliffs();
  }

 private:
  using grid = std::vector<std::vector<point>>;  // a row for each layout, of which the first is contiguous

  struct copy {
    double bytes = 0, rate = 0;
  };
  struct measured {
    double seconds = 0, part = 0;  // part: of the bound; 0 where there is no figure
  };

  /// How long a call on one element takes, and the bandwidth of copies. A small one may lie in a cache, which is at least
  /// as fast as for a larger one, whatever the library makes of it.
  void calibrate() {
    const ndarray one = sn::ones({1}, sn::float32);
    sn::eval(one);
    overhead_ = seconds_of_line([&] { return one + one; });
    for (int64_t n = std::min(most_, int64_t{1} << (gpu_ ? 28 : 24)); n >= 1 << 14; n /= 4) {
      const ndarray x = from_.take(0, sn::float32, n);
      const double bytes = 8.0 * static_cast<double>(n), seconds = seconds_of_line([&] { return -x; });
      const double rate = bytes / std::max(seconds - overhead_, seconds / 4);
      copies_.push_back({bytes, copies_.empty() ? rate : std::max(rate, copies_.back().rate)});
    }
    std::printf("%s, %s: a call takes %.2f us; -x of float32 numbers moves, in GB/s:",
                sn::to_string(sn::default_device()).c_str(), sn::description(sn::default_device()).c_str(),
                1e6 * overhead_);
    for (const copy& c : copies_) std::printf(" %.1f (%.3g MB)", c.rate / 1e9, c.bytes / 1e6);
    std::printf("\nFigures are times over (a call + bytes / bandwidth).\n\n");
  }

  double bound(double bytes) const {
    double rate = copies_.front().rate;
    for (const copy& c : copies_)
      if (c.bytes >= bytes) rate = c.rate;
    return overhead_ + bytes / rate;
  }

  /// The shortest of a few batches of 2 ms.
  template <class F>
  double seconds_of_line(F&& record) const {
    const auto batch = [&](int calls) {
      return seconds_of([&] {
               for (int k = 0; k < calls; ++k) sn::eval(record());
               sn::synchronize();
             }) /
             calls;
    };
    if (const double first = batch(1); first > 1) return first;
    sn::platform::wait_for_background();
    double least = batch(1);
    const int calls = std::clamp(static_cast<int>(2e-3 / least), 1, 200);
    for (int k = 0; k < (least > 0.1 ? 1 : 4); ++k) least = std::min(least, batch(calls));
    return least;
  }

  template <class F>
  measured measure(double bytes, F&& record) const {
    const double seconds = seconds_of_line(record);
    return {seconds, seconds / bound(bytes)};
  }

  measured measure(const operation& o, const point& p) {
    const ndarray x = operand(from_, 0, p), y = o.two_operands ? operand(from_, 1, p) : ndarray();
    const double results = static_cast<double>(o.record(x, y).nbytes());
    const double lines = p.layout == layout::every_other ? 2 : 1;  // memory is read by whole lines
    const double bytes = lines * static_cast<double>(x.nbytes()) * (o.two_operands ? 2 : 1) + results;
    return measure(bytes * o.passes(x), [&] { return o.record(x, y); });
  }

  /// Measures a grid, prints a line for each of its rows, and keeps the cliffs in it.
  template <class Measure>
  void measure_grid(const std::string& name, const grid& points, Measure&& measure_point) {
    std::vector<std::vector<measured>> found(points.size());
    const auto attempt = [&](std::size_t r, std::size_t c) -> measured {
      try {
        return measure_point(points[r][c]);
      } catch (const std::exception& e) {
        const std::string text = e.what();
        std::printf("%s, %s: %s\n", name.c_str(), points[r][c].label.c_str(), text.substr(0, text.find('\n')).c_str());
        return {};
      }
    };
    for (std::size_t r = 0; r < points.size(); ++r)
      for (std::size_t c = 0; c < points[r].size(); ++c) {
        found[r].push_back(now() < ends_ ? attempt(r, c) : measured{});
        left_out_ += now() >= ends_;
      }
    for (std::size_t r = 0; r < points.size(); ++r) {
      for (std::size_t c = 0; c < points[r].size(); ++c)
        if (neighbour_below(found, r, c) && now() < ends_) {  // may have been a disturbance
          const measured again = attempt(r, c);
          if (again.part < found[r][c].part) found[r][c] = again;
        }
      print(name + ", " + name_of(points[r].front().layout), points[r], found[r]);
      for (std::size_t c = 0; c < points[r].size(); ++c)
        if (const auto beside = neighbour_below(found, r, c))
          cliffs_.push_back(text_of(name, points[r][c], found[r][c]) +
                            text_beside(points[beside->first][beside->second], found[beside->first][beside->second]));
    }
  }

  /// The neighbour with the least part of its bound, where a point's is more than twice that. A point near its bound is no
  /// cliff: so a step from caches to memory is none.
  static std::optional<std::pair<std::size_t, std::size_t>> neighbour_below(
      const std::vector<std::vector<measured>>& found, std::size_t r, std::size_t c) {
    std::optional<std::pair<std::size_t, std::size_t>> least;
    double bound = found[r][c].part > 1.5 ? found[r][c].part / 2 : 0;
    const auto compare = [&](std::size_t nr, std::size_t nc) {
      const double beside = found[nr][nc].part;
      if (beside <= 0 || beside >= bound) return;
      bound = beside;
      least = {nr, nc};
    };
    if (c > 0) compare(r, c - 1);
    if (c + 1 < found[r].size()) compare(r, c + 1);
    if (r > 0) compare(0, c);
    return least;
  }

  static void print(const std::string& title, const std::vector<point>& points, const std::vector<measured>& found) {
    std::printf("%s:", title.c_str());
    for (std::size_t c = 0; c < points.size(); ++c)
      if (found[c].part > 0) std::printf("%s %s %.2f", c == 0 ? "" : ",", points[c].label.c_str(), found[c].part);
    std::printf("\n");
    std::fflush(stdout);
  }

  static std::string text_of(const std::string& name, const point& p, const measured& m) {
    char figures[64];
    std::snprintf(figures, sizeof figures, "%.4f ms, %.2f of its bound", 1e3 * m.seconds, m.part);
    std::string text = name + ", " + name_of(p.layout) + ", " + p.label;
    return text + ": " + figures;
  }

  static std::string text_beside(const point& p, const measured& m) {
    char figure[32];
    std::snprintf(figure, sizeof figure, " %.2f", m.part);
    return std::string("; ") + name_of(p.layout) + ", " + p.label + figure;
  }

  void print_cliffs() const {
    std::printf("\nMore than twice a neighbour: %zu\n", cliffs_.size());
    for (const std::string& c : cliffs_) std::printf("- %s\n", c.c_str());
    if (left_out_ > 0) std::printf("%d points were left out: the time was over.\n", left_out_);
  }

  // ---- what is swept

  static std::string count_name(int64_t n) {
    return n > 1024 && (n & (n - 1)) == 0 ? power_name(n) : std::to_string(n);
  }

  std::vector<int64_t> counts() const {
    std::vector<int64_t> list;
    for (int64_t n = 1; n <= most_; n *= 4) {
      list.push_back(n);
      if (n == 1024 || n == int64_t{1} << 20) list.push_back(n + 1);
    }
    return list;
  }

  void sizes(const operation& o) {
    std::vector<point> points;
    for (int64_t n : counts()) points.push_back({count_name(n), {n}});
    measure_grid(std::string(o.name) + " of float32 (n)", {points}, [&](const point& p) { return measure(o, p); });
    from_.clear();
  }

  void rows(const operation& o) {
    std::vector<point> points;
    for (int64_t e : {1,   2,   3,   4,   6,    8,    12,   16,   24,   32,    50,    64,    100,    128,
                      200, 256, 500, 512, 1000, 1024, 2048, 4096, 8192, 10000, 16384, 65536, 262144, 1048576})
      if (e <= total_)
        points.push_back(
            {count_name(e), {total_ / e, e}, sn::float32, o.transposed_rows ? layout::transposed : layout::contiguous});
    measure_grid(std::string(o.name) + " of float32 (" + power_name(total_) + " / n, n)", {points},
                 [&](const point& p) { return measure(o, p); });
  }

  void ranks(const operation& o) {
    const int bits = static_cast<int>(std::lround(std::log2(static_cast<double>(total_))));
    grid points;
    for (layout l : {layout::contiguous, layout::inner, layout::every_other, layout::transposed}) {
      points.emplace_back();
      for (int rank = 1; rank <= 6; ++rank) {
        extents shape;
        for (int axis = 0; axis < rank; ++axis)
          shape.push_back(int64_t{1} << (bits * (axis + 1) / rank - bits * axis / rank));
        points.back().push_back({"rank " + std::to_string(rank), shape, sn::float32, l});
      }
    }
    measure_grid(std::string(o.name) + " of float32", points, [&](const point& p) { return measure(o, p); });
  }

  void dtypes(const operation& o) {
    const int64_t side = int64_t{1} << static_cast<int>(std::log2(static_cast<double>(total_)) / 2);
    const bool floating = std::string(o.name).find("softmax") == 0;
    grid points;
    for (layout l : {layout::contiguous, layout::every_other, layout::transposed}) {
      if (l != layout::contiguous && !o.layouts_of_dtypes) break;
      points.emplace_back();
      for (sn::dtype t : {sn::bool_, sn::int8, sn::uint8, sn::int16, sn::uint16, sn::float16, sn::int32, sn::uint32,
                          sn::float32, sn::int64, sn::uint64, sn::float64, sn::complex64, sn::complex128}) {
        if (floating && t != sn::float16 && t != sn::float32 && t != sn::float64) continue;
        points.back().push_back({std::string(sn::name(t)), {total_ / side, side}, t, l});
      }
    }
    measure_grid(std::string(o.name) + " of a matrix", points, [&](const point& p) { return measure(o, p); });
    from_.clear();
  }

  void gathers() {
    const auto gather = [&](const point& p) {
      const int64_t n = p.shape[0];
      const ndarray x = from_.take(0, p.type, n);
      const ndarray i = sn::minimum((scattered({n}) * static_cast<double>(n)).astype(sn::int64), n - 1);
      sn::eval(i);
      return measure(gather_bytes(p), [&] { return x[i]; });
    };
    std::vector<point> points;
    for (int64_t n : counts()) points.push_back({count_name(n), {n}});
    measure_grid("gather x[i] of float32 (n)", {points}, gather);
    from_.clear();
    points.clear();
    for (sn::dtype t : {sn::int8, sn::float16, sn::float32, sn::float64, sn::complex128})
      points.push_back({std::string(sn::name(t)), {total_}, t});
    measure_grid("gather x[i], " + power_name(total_), {points}, gather);
  }

  bool small_, gpu_ = false;
  std::string only_;
  double ends_;
  int64_t most_ = 0, total_ = 0;
  double overhead_ = 0;
  std::vector<copy> copies_;  // from the largest down
  elements from_;
  std::vector<std::string> cliffs_;
  int left_out_ = 0;
};

}  // namespace

void sweep_rows(bool small, double seconds, const std::string& only) { sweep(small, seconds, only).run(); }

}  // namespace bench
