// Legal schedules of runs: operands that lie a few elements apart in one array, or that begin where no vector does. A thread has
// neighbouring elements of the space and reads the memory that any of them needs once, by vectors.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"
#include "platform/per_thread.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::cuda_run;
using jit::launch;
using jit::operand;

/// Bytes of a run, and of all that a thread reads for its lanes.
constexpr std::int64_t most_bytes = 128, most_bytes_of_thread = 320;
constexpr std::int64_t most_stride = 8,
                       most_alone = 4;  // of lanes, where other operands have what lies between, or none
constexpr std::int64_t vector_bytes = 16;

constexpr std::int64_t parts(std::int64_t a, std::int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

/// An operand of any of the two lists.
struct place {
  std::size_t k;  // behind the inputs: an output
  const operand* of;
  std::int64_t size;   // bytes of an element
  std::int64_t start;  // address of lane 0 of the first thread
  const jit::wrapped_read* wraps;
};

class run_finder {
 public:
  /// `all`: also runs that do not pay.
  run_finder(const launch& l, int axis, int lanes, bool all, jit::cuda_variant& v)
      : l_(l), axis_(axis), lanes_(lanes), all_(all), v_(v) {
    v.runs.assign(l.inputs.size() + l.outputs.size(), {});
    v.before = v.after = v.back = 0;
  }

  /// The classes of outputs, and where lanes begin, so that as many as can be are vectors.
  bool outputs() {
    v_.outputs.assign(l_.outputs.size(), access::linear);
    for (std::size_t k = 0; k < l_.outputs.size(); ++k) {
      const place p = output(k);
      const std::int64_t bytes = std::min(vector_bytes, lanes_ * p.size);
      if (p.of->strides[axis_] != 1) {
        if (v_.runs[p.k].packs == 0 && !interleaved(k)) return false;
        v_.outputs[k] = access::run;
        continue;
      }
      if (k == 0 && keeps(p, bytes)) v_.back = static_cast<std::uint8_t>(p.start % bytes / p.size);
      if (output(k).start % bytes == 0 && keeps(p, bytes)) continue;
      if (!in_parts(output(k))) return false;
      v_.outputs[k] = access::run;
    }
    return true;
  }

  /// The classes of inputs behind those that are there already: which are uniform.
  bool inputs() {
    for (std::size_t k = 0; k < l_.inputs.size(); ++k) {
      if (v_.inputs[k] != access::strided || v_.runs[k].packs != 0 || !in_prologue(*l_.code, k)) continue;
      const std::int64_t stride = l_.inputs[k].strides[axis_];
      if (stride == 0) {
        v_.inputs[k] = access::lanes;
        continue;
      }
      const bool found = stride > 0 && stride <= most_stride && family(k);
      if (!found && lanes_ > 1) return false;  // one lane reads it by itself
    }
    return bytes_ <= most_bytes_of_thread;
  }
  bool any() const noexcept { return any_; }
  /// Whether any output has a run.
  bool any_written() const noexcept {
    return std::any_of(v_.outputs.begin(), v_.outputs.end(), [](access a) { return a == access::run; });
  }

 private:
  std::int64_t extent() const { return l_.extents[axis_]; }

  place output(std::size_t k) const {
    const operand& o = l_.outputs[k];
    return at(l_.inputs.size() + k, o, static_cast<std::int64_t>(size_of_output(l_, k)), nullptr);
  }
  place input(std::size_t k) const {
    const auto own = std::find_if(l_.wraps.begin(), l_.wraps.end(), [&](auto& r) { return r.input == k; });
    return at(k, l_.inputs[k], static_cast<std::int64_t>(size_of_input(l_, k)),
              own == l_.wraps.end() ? nullptr : &*own);
  }
  place at(std::size_t k, const operand& o, std::int64_t size, const jit::wrapped_read* wraps) const {
    std::int64_t offset = o.offset - v_.back * o.strides[axis_];
    each_wrap(wraps, true, [&](const jit::wrap& w) { offset += is_late(w) ? w.after : w.before; });
    return {k, &o, size, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(o.base)) + offset * size, wraps};
  }

  /// Wraps along the axis of lanes, or along the others.
  template <class F>
  void each_wrap(const jit::wrapped_read* r, bool inner, F&& f) const {
    for (int n = 0; r && n < r->count; ++n)
      if ((r->wraps[n].axis == axis_) == inner) f(r->wraps[n]);
  }
  bool is_late(const jit::wrap& w) const { return w.turn <= extent() - w.turn; }

  /// Whether all places of lane 0 are multiples of `bytes` apart.
  bool keeps(const place& p, std::int64_t bytes) const {
    if (lanes_ * p.of->strides[axis_] * p.size % bytes != 0) return false;
    for (int j = 0; j < l_.extents.size(); ++j)
      if (j != axis_ && l_.extents[j] != 1 && p.of->strides[j] * p.size % bytes != 0) return false;
    bool all = true;
    each_wrap(p.wraps, false, [&](const jit::wrap& w) {
      all = all && w.before * p.size % bytes == 0 && w.after * p.size % bytes == 0;
    });
    return all;
  }
  /// Elements of the vectors that suit a place; 1: none.
  std::int64_t vectors(const place& p) const {
    std::int64_t bytes = vector_bytes;
    while (bytes > p.size && !keeps(p, bytes)) bytes /= 2;
    return std::max<std::int64_t>(1, bytes / p.size);
  }

  bool shares_array(const place& a, const place& b) const {
    if (a.of->base != b.of->base || a.size != b.size || !(a.of->strides == b.of->strides)) return false;
    std::vector<jit::wrap> of_a, of_b;
    each_wrap(a.wraps, false, [&](const jit::wrap& w) { of_a.push_back(w); });
    each_wrap(b.wraps, false, [&](const jit::wrap& w) { of_b.push_back(w); });
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](auto& x, auto& y) {
      return x.axis == y.axis && x.turn == y.turn && x.before == y.before && x.after == y.after;
    });
  }

  /// Input `k` and those that it shares runs with.
  bool family(std::size_t k) {
    std::vector<place> all;
    const place own = input(k);
    for (std::size_t j = k; j < l_.inputs.size(); ++j)
      if (v_.inputs[j] == access::strided && !gathered(l_, j) && in_prologue(*l_.code, j) &&
          l_.code->inputs[j].type == l_.code->inputs[k].type && shares_array(own, input(j)))
        all.push_back(input(j));
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.start < b.start; });
    for (auto from = all.begin(); from != all.end();) {
      auto to = from + 1;
      while (to != all.end() && run_of(*from, *to)) ++to;
      if (!set_run({from, to})) return false;
      from = to;
    }
    return true;
  }

  /// The run from one place to another; none if it is too long, or no vectors suit it.
  std::optional<cuda_run> run_of(const place& first, const place& last) const {
    const std::int64_t stride = first.of->strides[axis_], n = vectors(first);
    const std::int64_t lead = (first.start / first.size) % n, span = (last.start - first.start) / first.size;
    if (n == 1 || first.start % first.size != 0 || span > most_bytes) return std::nullopt;
    const std::int64_t packs = parts(lead + span + stride * (lanes_ - 1) + 1, n);
    if (packs * n * first.size > most_bytes) return std::nullopt;
    return cuda_run{0, static_cast<std::uint8_t>(stride), static_cast<std::uint8_t>(lead),
                    static_cast<std::uint8_t>(packs), static_cast<std::uint8_t>(n)};
  }

  /// Whether a warp reads a run by fewer lines of memory than the lanes one by one, which lie across two of them.
  bool saves_lines(const place& first, const cuda_run& r, std::size_t places) const {
    constexpr std::int64_t warp = 32, line = 128;
    const std::int64_t apart = r.stride * first.size, by_vectors = r.packs * parts(warp * lanes_ * apart, line);
    return by_vectors <= static_cast<std::int64_t>(places) * lanes_ * (parts(warp * apart, line) + 1);
  }

  /// The run of places in the order of their addresses. One that begins where a vector does, alone, is one.
  bool set_run(std::span<const place> all) {
    const place& first = all.front();
    const std::int64_t stride = first.of->strides[axis_], bytes = std::min(vector_bytes, lanes_ * first.size);
    if (all.size() == 1 && stride == 1 && first.start % bytes == 0 && keeps(first, bytes)) {
      v_.inputs[first.k] = access::linear;
      bytes_ += lanes_ * first.size;
      return true;
    }
    const std::optional<cuda_run> r = run_of(first, all.back());
    if (!r || (all.size() == 1 && stride > most_alone) || (!all_ && !saves_lines(first, *r, all.size()))) return false;
    std::size_t leader = first.k;
    for (const place& p : all) leader = std::min(leader, p.k);
    for (const place& p : all) {
      cuda_run& own = v_.runs[p.k] = *r;
      own.first = static_cast<std::uint8_t>(leader);
      own.shift = static_cast<std::uint8_t>(r->shift + (p.start - first.start) / p.size);
      v_.inputs[p.k] = access::run;
    }
    const std::int64_t span = (all.back().start - first.start) / first.size, elements = r->packs * r->pack;
    const std::int64_t behind = parts(elements - r->shift - span - 1, stride) + 1 - lanes_;
    v_.before = static_cast<std::uint8_t>(std::max<std::int64_t>(v_.before, parts(r->shift, stride)));
    v_.after = static_cast<std::uint8_t>(std::max<std::int64_t>(v_.after, behind));
    bytes_ += elements * first.size;
    any_ = true;
    return true;
  }

  /// Small elements at places that suit no vectors of all lanes: by a few shorter ones, since there are many lanes to a byte read.
  bool in_parts(const place& p) {
    constexpr std::int64_t most_stores = 4;
    constexpr std::size_t many_reads = 6;  // beside which a store more is little
    const std::int64_t small = l_.inputs.size() >= many_reads ? 4 : 2;
    std::int64_t n = vectors(p);
    while (n > 1 && p.start % (n * p.size) != 0) n /= 2;
    if (p.size > small || n > lanes_ || lanes_ / n > most_stores) return false;
    v_.runs[p.k] = {static_cast<std::uint8_t>(p.k), 1, 0, static_cast<std::uint8_t>(lanes_ / n),
                    static_cast<std::uint8_t>(n)};
    return true;
  }

  /// Outputs between each other, output `k` the first of them, that fill their array's memory together.
  bool interleaved(std::size_t k) {
    const place first = output(k);
    const std::int64_t stride = first.of->strides[axis_], n = vectors(first), elements = stride * lanes_;
    // By one access: what a warp writes in several has half of its sectors at a time.
    if (stride < 2 || n == 1 || elements != n) return false;
    std::vector<place> all;
    for (std::size_t j = k; j < l_.outputs.size(); ++j)
      if (l_.code->outputs[j].type == l_.code->outputs[k].type && shares_array(first, output(j)))
        all.push_back(output(j));
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.start < b.start; });
    if (v_.back != 0 || static_cast<std::int64_t>(all.size()) != stride || all.front().start % (n * first.size) != 0)
      return false;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (all[j].start != all[0].start + static_cast<std::int64_t>(j) * first.size) return false;
      v_.runs[all[j].k] = {static_cast<std::uint8_t>(all[0].k), static_cast<std::uint8_t>(stride),
                           static_cast<std::uint8_t>(j), static_cast<std::uint8_t>(elements / n),
                           static_cast<std::uint8_t>(n)};
    }
    return true;
  }

  const launch& l_;
  int axis_;
  std::int64_t lanes_;
  bool all_;
  jit::cuda_variant& v_;
  std::int64_t bytes_ = 0;
  bool any_ = false;
};

bool draws(const jit::program& p) noexcept {
  return std::any_of(p.code.begin(), p.code.end(), [](const jit::instr& i) { return jit::is_random(i.op); });
}

void mark_late_wraps(const launch& l, int inner, jit::cuda_variant& v) {
  std::size_t at = 0;
  for (const jit::wrapped_read& r : l.wraps)
    for (int n = 0; n < r.count; ++n, ++at)
      v.wraps[at].late = r.wraps[n].axis == inner && r.wraps[n].turn <= l.extents[inner] - r.wraps[n].turn;
}

void forget_runs(jit::cuda_variant& v) {
  for (access& a : v.inputs)
    if (a != access::uniform) a = access::strided;
  v.runs.clear();
}

bool set_map_runs(const launch& l, int lanes, bool all, jit::cuda_variant& v) {
  const int inner = l.extents.size() - 1;
  if (inner < 0 || lanes < 1 || l.extents[inner] < lanes || draws(*l.code)) return false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    if (gathered(l, k)) return false;
  run_finder find(l, inner, lanes, all, v);
  if (!find.outputs() || !find.inputs() || (lanes == 1 && !find.any_written())) return false;
  v.vector = static_cast<std::uint8_t>(lanes);
  v.all_groups = v.back == 0 && l.extents[inner] % lanes == 0;
  mark_late_wraps(l, inner, v);
  return true;
}

bool is_strided_runs(const launch& l, int lanes, bool all, jit::cuda_variant& v) {
  v.shape = jit::cuda_shape::strided;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const bool uniform = constant_over(l, l.inputs[k], 0, l.extents.size()) && !wraps(l, k);
    v.inputs.push_back(uniform ? access::uniform : access::strided);
  }
  share_places(l, v);
  share_wraps(l, v);
  v.wide_index = !fits_narrow(l, core::element_count(l.extents));
  return set_map_runs(l, lanes, all, v);
}

/// Elements of a space, and vectors of a row whose ends are read one by one, from which on runs pay.
constexpr std::int64_t many_elements = 1 << 15, long_row = 16;

}  // namespace

bool add_map_runs(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  if (!all && core::element_count(l.extents) < many_elements) return false;
  const int longest = jit::cuda_vector_length(*l.code);
  for (int n = longest; n >= 1; n /= 2) {
    const auto pays = [&](const jit::cuda_variant& v) {
      const std::int64_t row = l.extents[l.extents.size() - 1];
      return all || row >= long_row * n || (v.before + v.after + v.back == 0 && row % n == 0);
    };
    if (to.add_if(l, [&](jit::cuda_variant& v) { return is_strided_runs(l, n, all, v) && pays(v); })) return !all;
  }
  return false;
}

bool set_row_runs(const launch& l, bool all, jit::cuda_variant& v) {
  const int last = l.extents.size() - 1;
  if (last != l.kept || l.extents[last] < jit::cuda_group || draws(*l.code)) return false;
  jit::cuda_variant& plain = platform::per_thread<jit::cuda_variant, run_finder>::get();
  plain = v;
  forget_runs(v);
  run_finder find(l, last, jit::cuda_group, all, v);
  // Of short rows the ends, which are read one by one, are too much.
  const auto pays = [&] {
    return l.extents[last] >= long_row * jit::cuda_group ||
           (l.extents[last] % jit::cuda_group == 0 && v.before + v.after == 0);
  };
  if (find.inputs() && find.any() && (all || pays())) return true;
  v = plain;
  return false;
}

bool same_runs(const launch& l, const jit::cuda_variant& v) {
  struct tag {};
  jit::cuda_variant& now = platform::per_thread<jit::cuda_variant, tag>::get();
  now = v;
  forget_runs(now);
  const bool map = l.code->kind == jit::kernel_kind::elementwise;
  if (!(map ? set_map_runs(l, v.vector, false, now) : set_row_runs(l, false, now))) return false;
  const auto equal = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
  };
  return equal(v.runs, now.runs) && equal(v.inputs, now.inputs) && equal(v.outputs, now.outputs) &&
         equal(v.wraps, now.wraps) && v.before == now.before && v.after == now.after && v.back == now.back;
}

}  // namespace sinter::cuda
