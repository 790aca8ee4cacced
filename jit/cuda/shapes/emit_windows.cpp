// CUDA reductions of rows of few elements that overlap, as windows of a moving sum do. A thread has neighbouring results.
// It reads what any of them needs once, by vectors, and computes each element once; the code of all results is unrolled,
// so that the compiler also finds the partial sums which they share.
//
// The order of the additions is that of emit_reduce.cpp: here a thread has all lanes of a result.
#include <algorithm>

#include "jit/cuda/shapes/emit_reduction.hpp"

namespace sinter::jit::cuda {
namespace {

constexpr int per_thread = cuda_window_results;

class window_writer : reduction_writer {
 public:
  window_writer(const program& p, const cuda_variant& v)
      : reduction_writer(p, v, per_thread),
        lanes_(1 << v.tile.levels),
        across_(v.window.back()),
        element_(make_phase(p, v, "element", instructions(0, p.epilogue), registers_of(p.reductions))) {
    for (int j = 0; j + 1 < static_cast<int>(v.window.size()); ++j) down_ *= v.window[static_cast<std::size_t>(j)];
    shared_step_ = common_step();
  }

  std::string run() {
    open_reduction({&element_});
    head(0);
    place();
    for (int k : element_.inputs)
      base_pointer(k, "a.p" + num(k) + " + (" + offset("s", k, 0, inner_, "k") + start(k) + ")");
    fixed_values();
    loads();
    declare_accumulators();
    if (shared_step_ > 0) shared_elements();
    else t_.unrolled("v", per_thread, [&] { own_elements(); });
    results();
    t_("}");
    return close();
  }

 private:
  int step(int k) const { return v_.row_only[static_cast<std::size_t>(k)]; }
  int reach(int step) const { return cuda_window_reach(v_, step); }
  /// Elements of an input that a thread reads of each row of the window.
  int width(int k) const { return step(k) > 0 ? reach(step(k)) : across_; }
  std::string inner_extent() const { return "a.e" + num(inner_) + ".n"; }

  /// The step of all inputs that vary along the window, if they have the same and no other input differs among the
  /// results of a thread: these have elements in common. Else 0.
  int common_step() const {
    int found = 0;
    for (int k : element_.inputs) {
      if (fixed(k) || (found != 0 && step(k) != found) || step(k) == 0) return 0;
      found = step(k);
    }
    return found;
  }

  // --- where a thread is

  void place() {
    t_("const long long thread = (long long)blockIdx.x * ", cuda_block, " + threadIdx.x;");
    t_("if (thread >= a.chunk) return;");
    if (inner_ == 0) {
      t_("const I first = (I)thread * ", per_thread, ";");
    } else {
      t_("const I outer = (I)thread / (I)a.team, first = ((I)thread - outer * (I)a.team) * ", per_thread, ";");
      decompose(t_, "outer", 0, inner_, "k");
    }
    t_("const I left = ", inner_extent(), " - first;  // results from the first one to the end of the row");
  }
  std::string start(int k) const { return step(k) > 0 ? " + first * a.s" + num(k) + "_" + num(inner_) : std::string(); }

  /// u<k>: one value for each result, the last one where there are fewer.
  void fixed_values() {
    for (int k : element_.inputs) {
      if (!fixed(k)) continue;
      t_(value_type(k), " u", k, "[", per_thread, "];");
      const std::string at = "(first + (v < left ? v : left - 1)) * a.s" + num(k) + "_" + num(inner_);
      t_.each("v", per_thread, "u", k, "[v] = ", widened(type(k), "b" + num(k) + "[" + at + "]"), ";");
    }
  }

  // --- loads

  /// m<k>: what a thread reads, row by row of the window.
  void loads() {
    for (int k : element_.inputs)
      if (!fixed(k)) t_(storage(k), " m", k, "[", down_ * width(k), "];");
    int beyond = 0;
    for (int k : element_.inputs) beyond = std::max(beyond, results_beyond(k));
    t_("if (left >= ", per_thread + beyond, ") {");
    for (int k : element_.inputs)
      if (!fixed(k)) load(k, true);
    t_("} else {");
    for (int k : element_.inputs)
      if (!fixed(k)) load(k, false);
    t_("}");
  }

  /// How many more results there must be, so that the last vector of a row does not end behind their elements.
  int results_beyond(int k) const {
    if (input_class(k) != access::linear) return 0;
    const int n = cuda_window_vector(type(k)), over = (n - width(k) % n) % n;
    return (over + step(k) - 1) / step(k);
  }

  void load(int k, bool all) {
    t_.unrolled("o", down_, [&] {
      if (v_.rank - v_.kept > 1) decompose(t_, "o", v_.kept, v_.rank - 1, "c");
      t_("const ", storage(k), "* const from = b", k, " + ", rows_of_window(k), ";");
      const std::string to = "m" + num(k) + "[o * " + num(width(k)) + " + ";
      if (all && input_class(k) == access::linear) return load_vectors(k, to);
      const std::string last = "(int)(left - 1) * " + num(step(k)) + " + " + num(across_ - 1);
      const std::string at = all || step(k) == 0 ? "w" : "(w < " + last + " ? w : " + last + ")";
      t_.each("w", width(k), to, "w] = from[", at, " * a.s", k, "_", v_.rank - 1, "];");
    });
  }

  std::string rows_of_window(int k) const { return "(" + offset("s", k, v_.kept, v_.rank - 1, "c") + ")"; }

  void load_vectors(int k, const std::string& to) {
    const int n = cuda_window_vector(type(k));
    t_.unrolled("w", (width(k) + n - 1) / n, [&] {
      t_("const ", pack(k, n), " x = sn::fetch<", n, ">(from + w * ", n, ");");
      t_.each("l", n, "if (w * ", n, " + l < ", width(k), ") ", to, "w * ", n, " + l] = x.v[l];");
    });
  }

  // --- elements

  /// All elements once, then the results.
  void shared_elements() {
    use_group({.element = element_,
               .lanes = down_ * reach(shared_step_),
               .value = [](int) { return std::string(); },
               .stored = [](int k) { return "m" + num(k) + "[l]"; },
               .use = [&] { t_.unrolled("v", per_thread, [&] { reduce(reach(shared_step_), shared_step_); }); }});
  }

  /// The elements of result v.
  void own_elements() {
    const auto stored = [this](int k) {
      const std::string row = "l / " + num(across_) + " * " + num(width(k)), column = "l % " + num(across_);
      return "m" + num(k) + "[" + row + " + " + column + " + v * " + num(step(k)) + "]";
    };
    use_group({.element = element_,
               .lanes = down_ * across_,
               .value = [this](int k) { return fixed(k) ? "u" + num(k) + "[v]" : std::string(); },
               .stored = stored,
               .use = [&] { reduce(across_, 0); }});
  }

  /// The lanes of result v, whose elements lie in rows of `width`, `step` after those of the result before.
  void reduce(int width, int step) {
    const int elements = down_ * across_, full = elements / cuda_group;
    const auto at = [&](const std::string& r) {
      return "(" + r + ") / " + num(across_) + " * " + num(width) + " + (" + r + ") % " + num(across_) + " + v * " +
             num(step);
    };
    t_("accs lane[", lanes_, "];");
    t_.each("t", lanes_, "lane[t].init();");
    if (full > 0)
      t_.unrolled("g", full, [&] {
        for (int j = 0; j < reductions(); ++j) {
          t_("const ", element_type(j), " four", j, "[4] = {", values(j, at, 0), values(j, at, 1), values(j, at, 2),
             values(j, at, 3), "};");
          t_("lane[g & ", lanes_ - 1, "].a", j, ".step4(four", j, ", g * ", cuda_group, ");");
        }
      });
    if (elements % cuda_group != 0) last_group(full, elements, at);
    join();
    t_("acc[v] = lane[0];");
  }

  template <class At>
  std::string values(int j, const At& at, int l) const {
    return (l ? ", x" : "x") + num(register_of(j)) + "[" + at("g * " + num(cuda_group) + " + " + num(l)) + "]";
  }

  template <class At>
  void last_group(int full, int elements, const At& at) {
    t_("accs last;");
    t_("last.init();");
    t_.unrolled("l", elements % cuda_group, [&] {
      const std::string r = num(full * cuda_group) + " + l";
      for (int j = 0; j < reductions(); ++j) t_("last.a", j, ".step(x", register_of(j), "[", at(r), "], ", r, ");");
    });
    t_("lane[", full & (lanes_ - 1), "].merge(last);");
  }

  void join() {
    if (v_.tile.halves) {
      for (int half = lanes_ / 2; half > 0; half /= 2) t_.each("t", half, "lane[t].merge(lane[t + ", half, "]);");
      return;
    }
    for (int d = 1; d < lanes_; d += d)
      t_.each("t", lanes_ / (2 * d), "lane[t * ", 2 * d, "].merge(lane[t * ", 2 * d, " + ", d, "]);");
  }

  // --- results

  void results() {
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k)
      t_(storage_of_output(k), " y", k, "[", per_thread, "];");
    t_.unrolled("v", per_thread, [&] {
      t_("if (v >= left) continue;");
      t_("const I k", inner_, " = first + v;");
      t_("const long long row = ", inner_ == 0 ? "0" : "(long long)outer * " + inner_extent(), " + k", inner_, ";");
      run_epilogue("acc[v]");
      for (std::size_t k = 0; k < p_.outputs.size(); ++k)
        t_("y", static_cast<int>(k), "[v] = ", narrowed(p_.outputs[k].type, "out.r" + num(p_.outputs[k].reg)), ";");
    });
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k) store(k);
  }

  /// Results v to v + n - 1 by one access, if there are so many.
  void store(int k) {
    const int n = v_.vector;
    const std::string stride = "a.t" + num(k) + "_" + num(inner_);
    const std::string to = "a.w" + num(k) + " + (" + offset("t", k, 0, inner_, "k") + " + first * " + stride + ")";
    t_("#pragma unroll");
    t_.scope("for (int v = 0; v < " + num(per_thread) + "; v += " + num(n) + ")", [&] {
      if (n > 1)
        t_.scope("if (v + " + num(n) + " <= left)", [&] {
          t_("sn::pack<", storage_of_output(k), ", ", n, "> x;");
          t_.each("l", n, "x.v[l] = y", k, "[v + l];");
          t_("sn::put(", to, " + v, x);");
          t_("continue;");
        });
      t_.each("l", n, "if (v + l < left) (", to, ")[(v + l) * ", stride, "] = y", k, "[v + l];");
    });
  }

  const char* storage_of_output(int k) const { return storage_type(p_.outputs[static_cast<std::size_t>(k)].type); }
  int register_of(int j) const { return p_.reductions[static_cast<std::size_t>(j)].reg; }
  std::string element_type(int j) const { return type_of_lane(p_, register_of(j)); }

  int lanes_, across_, down_ = 1;  // rows of the window, and elements of each
  int inner_ = v_.kept - 1;        // the axis along which a thread's results lie
  int shared_step_ = 0;
  phase element_;
};

}  // namespace

std::string emit_windows(const program& p, const cuda_variant& v) { return window_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
