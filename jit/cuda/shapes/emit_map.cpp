// Elementwise CUDA kernels: vectors over a linear index, or rows of a strided iteration space. With runs (cuda_run) vectors begin
// where those of the outputs do, and elements whose runs are not all in a row, at its ends and where reads wrap, are computed
// one by one.
#include "jit/cuda/shapes/emit_map.hpp"

#include <algorithm>

namespace sinter::jit::cuda {
namespace {

/// The whole space as one line: full blocks move `unroll` vectors a thread, the last block (baseline tier: every block)
/// single elements.
class linear_writer : map_writer {
 public:
  linear_writer(const program& p, const cuda_variant& v) : map_writer(p, v) {}

  std::string run() {
    const int chunk = cuda_block * vec_ * unroll_;
    begin(0);
    t_("const long long start = (long long)blockIdx.x * ", chunk, ";");
    if (!v_.baseline) full_block(chunk);
    t_("const long long end = start + ", chunk, " < a.n ? start + ", chunk, " : a.n;");
    t_.loop("for (long long at = start + threadIdx.x; at < end; at += " + num(cuda_block) + ")", [&] { last_block(); });
    t_("}");
    return close();
  }

 private:
  void last_block() {
    one_element({.element = element_,
                 .value = value_,
                 .address = [this](int k) { return of_input(k, "at"); },
                 .coordinate = [this](int) { return element_.place ? "sn::random_place{at, 0}" : "at"; },
                 .place = [](int k) { return "a.w" + num(k) + "[at]"; }});
  }

  void full_block(int chunk) {
    const std::string step = "u * " + num(cuda_block * vec_);
    t_("if (start + ", chunk, " <= a.n", same_upper_half(chunk), ") {");
    t_("const long long first = start + (int)threadIdx.x * ", vec_, ";");
    walk({.element = element_,
          .lanes = vec_,
          .groups = unroll_,
          .order = load_order::by_group,
          .place = [&] { t_("const long long at = first + ", step, ";"); },
          .value = value_,
          .vector = [this](int k) { return gathered(k) ? "" : of_input(k, "at"); },
          .lane = [this](int k) { return of_input(k, "at + l"); },
          // `at` is a multiple of the number of lanes.
          .coordinate = [&](int) { return element_.place ? "sn::random_place{first, " + step + " | l}" : "at | l"; },
          .use = [this] { stores([](int k) { return "a.w" + num(k) + " + at"; }); }});
    t_("return;");
    t_("}");
  }

  std::string of_input(int k, const std::string& at) const {
    return "a.p" + num(k) + (input_class(k) == access::uniform ? "" : " + " + at);
  }

  /// The condition under which random_place is valid.
  std::string same_upper_half(int chunk) const {
    std::string all;
    for (const instr& i : p_.code)
      if (element_.place && shares_blocks(i))
        all += std::string(" && sn::share_upper_half<") + register_type(i.type) + ">(" + random_stream(i) +
               ", start, " + num(chunk) + ")";
    return all;
  }
};

/// Rows: c<inner> runs over threadIdx.x; a thread processes `unroll` rows, blockDim.y apart (rank 1: elements of its row).
class strided_writer : map_writer {
 public:
  strided_writer(const program& p, const cuda_variant& v) : map_writer(p, v) {}

  std::string run() {
    begin(0);
    t_("const I across = (I)(blockIdx.x * (I)blockDim.x", flat_ ? " * " + num(unroll_) : "", " + threadIdx.x) * ", vec_,
       v_.back ? " - " + num(v_.back) : "", ";");
    if (flat_) {
      t_("const I step = (I)blockDim.x * ", vec_, ";");
      rows();
    } else {
      if (!v_.baseline) t_("const I c", inner_, " = across;");
      t_("if (across >= a.e", inner_, ".n) return;");
      t_("const I step = (I)blockDim.y;");
      if (runs() && !v_.baseline) t_("const bool whole = ", whole("across"), ";");
      over_outer_axes(
          [&] {
            t_("const I zi = (I)z;");
            decompose(t_, "zi", 0, v_.rank - 2, "c");
          },
          [&] { all_rows(); });
    }
    t_("}");
    return close();
  }

 private:
  void all_rows() {
    const std::string rows_of_block = "step * " + num(unroll_);
    t_.scope("for (I down = (I)(blockIdx.y * (I)blockDim.y * " + num(unroll_) + " + threadIdx.y); down < a.e" +
                 num(v_.rank - 2) + ".n; down += (I)gridDim.y * " + rows_of_block + ")",
             [&] { rows(); });
  }

  void rows() {
    if (v_.baseline) return rows_one_by_one();
    const std::string c = "c" + num(moving_),
                      place = "const I " + c + " = " + (flat_ ? "across" : "down") + " + u * step;";
    const std::string inside = c + " < a.e" + num(moving_) + ".n";
    if (!runs()) return groups(unroll_, place, inside);
    if (flat_) {
      groups(unroll_, place, whole(c));
      rows_one_by_one();
    } else if (reads_ends()) {
      groups(unroll_, place, inside);
    } else {
      t_.scope("if (whole)", [&] { groups(unroll_, place, inside); });
      t_.scope("else", [&] { rows_one_by_one(); });
    }
  }

  /// With runs: what lies outside of whole vectors.
  void rows_one_by_one() {
    const std::string row = flat_ ? "begin" : "c" + num(moving_), inner = "c" + num(inner_);
    t_.loop("for (int u = 0; u < " + num(unroll_) + "; ++u)", [&] {
      t_("const I ", row, " = ", flat_ ? "across" : "down", " + u * step;");
      t_("if (", row, " >= a.e", moving_, ".n) break;");
      if (flat_ && runs() && !v_.baseline) t_("if (", whole("begin"), ") continue;");
      t_.loop("for (int l = 0; l < " + num(vec_) + "; ++l)", [&] {
        t_("const I ", inner, " = ", flat_ ? "begin" : "across", " + l;");
        if (runs()) t_("if (", v_.back ? inner + " < 0 || " : "", inner, " >= a.e", inner_, ".n) continue;");
        strided_element();
      });
    });
  }

  /// With runs: whether a thread's lanes from `c` on are read and written by vectors.
  std::string whole(const std::string& c) const {
    const std::string first = v_.before ? c + " - " + num(v_.before) : c, end = c + " + " + num(vec_ + v_.after);
    std::string all = (v_.before ? first + " >= 0 && "
                       : v_.back ? c + " >= 0 && "
                                 : std::string()) +
                      end + " <= a.e" + num(inner_) + ".n";
    for (std::size_t k = 0; k < v_.wraps.size(); ++k) {
      const cuda_wrap& w = v_.wraps[k];
      if (w.axis != inner_ || w.same != k) continue;
      const std::string turn = "a.y" + num(static_cast<int>(k)) + "_0";
      all += w.late ? " && " + first + " >= " + turn : " && " + end + " <= " + turn;
    }
    return all;
  }

  void strided_element() {
    shared_offsets();
    const std::string inner = "c" + num(inner_);
    one_element({.element = element_,
                 .value = value_,
                 .address = [this](int k) { return place_of(k); },
                 .coordinate =
                     [&](int j) {
                       return j <= inner_ ? "c" + num(j) : row_number() + " * a.e" + num(inner_) + ".n + " + inner;
                     },
                 .place = [this](int k) { return "*(" + place_of_output(k) + ")"; }});
  }

  bool flat_ = v_.rank == 1;
  int moving_ = flat_ ? 0 : v_.rank - 2;  // the axis along which a thread's groups lie
};

}  // namespace

map_writer::map_writer(const program& p, const cuda_variant& v)
    : kernel_writer(p, v),
      vec_(v.vector),
      inner_(v.rank - 1),
      unroll_(cuda_unroll(p, v)),
      element_(make_phase(p, v, "element", instructions(0, p.code.size()), registers_of(p.outputs))) {}

void map_writer::begin(int shared_bytes, int blocks) {
  open({&element_});
  head(shared_bytes, cuda_block, "", blocks);
  for (int k : element_.inputs)
    if (fixed(k)) fixed_value(k, "*a.p" + num(k));
}

void map_writer::stores(const text_of& address) {
  for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k) {
    if (v_.outputs[static_cast<std::size_t>(k)] == access::run) store_run(k, address);
    else if (vec_ > 1 && v_.outputs[static_cast<std::size_t>(k)] != access::strided) put(k, vec_, address(k));
    else if (vec_ > 1)
      t_.each("l", vec_, "(", address(k), ")[l * ", stride_of(p_.inputs.size() + static_cast<std::size_t>(k), inner_),
              "] = ", narrowed_lane(k), ";");
    else t_.each("l", 1, "*(", address(k), ") = ", narrowed_lane(k), ";");
  }
}

/// Outputs between each other, by the first of them.
void map_writer::store_run(int k, const text_of& address) {
  const std::size_t inputs = p_.inputs.size();
  const cuda_run& r = v_.runs[inputs + static_cast<std::size_t>(k)];
  if (r.first != inputs + static_cast<std::size_t>(k)) return;
  const char* const stored = storage_type(p_.outputs[static_cast<std::size_t>(k)].type);
  t_.scope("", [&] {
    t_("sn::pack<", stored, ", ", int{r.pack}, "> y[", int{r.packs}, "];");
    for (std::size_t j = 0; j < p_.outputs.size(); ++j) {
      const cuda_run& own = v_.runs[inputs + j];
      if (own.packs == 0 || own.first != r.first) continue;
      const std::string e = "(" + num(own.shift) + " + l * " + num(own.stride) + ")", n = num(r.pack);
      t_.each("l", vec_, "y[", e, " / ", n, "].v[", e, " % ", n, "] = ", narrowed_lane(static_cast<int>(j)), ";");
    }
    t_.each("w", int{r.packs}, "sn::put(", address(k), " + w * ", int{r.pack}, ", y[w]);");
  });
}

// Of lane l, as `first | l`: known low bits let lanes share what they compute from blocks of random numbers.
std::string map_writer::coordinate(int j) const {
  const std::string first = "c" + num(inner_), lanes = num(vec_);
  if (j < inner_) return "c" + num(j);
  if (runs() && j == inner_) return first + " + l";
  if (runs()) return row_number() + " * a.e" + num(inner_) + ".n + " + first + " + l";
  if (j == inner_) return first + " | l";
  return "(" + row_number() + " * (a.e" + num(inner_) + ".n / " + lanes + ") * " + lanes + " + " + first + ") | l";
}

std::string map_writer::row_number() const {
  std::string row = "(long long)c0";
  for (int k = 1; k < inner_; ++k) row = "(" + row + " * a.e" + num(k) + ".n + c" + num(k) + ")";
  return row;
}

std::string map_writer::stride_of(std::size_t operand, int axis) const {
  const std::size_t first = v_.places.empty() ? operand : v_.places[operand], inputs = p_.inputs.size();
  const bool input = first < inputs;
  return std::string(input ? "a.s" : "a.t") + num(static_cast<int>(input ? first : first - inputs)) + "_" + num(axis);
}

std::string map_writer::offset_of(std::size_t operand) const {
  if (!v_.places.empty()) return "o" + num(v_.places[operand]);
  const std::size_t inputs = p_.inputs.size();
  return operand < inputs ? offset("s", static_cast<int>(operand), 0, v_.rank, "c")
                          : offset("t", static_cast<int>(operand - inputs), 0, v_.rank, "c");
}

void map_writer::shared_offsets() {
  if (v_.places.empty()) return;
  const std::size_t inputs = p_.inputs.size();
  std::vector<int> needed;
  const auto need = [&](std::size_t operand) {
    if (const int first = v_.places[operand]; !contains(needed, first)) needed.push_back(first);
  };
  for (const int k : element_.inputs)
    if (input_class(k) != access::uniform) need(static_cast<std::size_t>(k));
  for (std::size_t k = 0; k < p_.outputs.size(); ++k) need(inputs + k);
  for (const int k : needed) {
    std::string sum;
    for (int j = 0; j < v_.rank; ++j)
      sum += (j ? " + c" : "c") + num(j) + " * " + stride_of(static_cast<std::size_t>(k), j);
    t_("const I o", k, " = ", sum, ";");
  }
  for (std::size_t k = 0; k < v_.wraps.size(); ++k) {
    const std::string turn = "a.y" + num(static_cast<int>(k)) + "_";
    if (v_.wraps[k].same == k)
      t_("const I wrap", static_cast<int>(k), " = c", int{v_.wraps[k].axis}, " < ", turn, "0 ? ", turn, "1 : ", turn,
         "2;");
  }
}

std::string map_writer::place_of(int k) const {
  const std::string base = "a.p" + num(k);
  if (input_class(k) == access::uniform) return base;
  std::string at = offset_of(static_cast<std::size_t>(k));
  for (const cuda_wrap& w : v_.wraps)
    if (w.input == k) at += " + wrap" + num(w.same);
  return base + " + (" + at + ")";
}

std::string map_writer::place_of_output(int k) const {
  return "a.w" + num(k) + " + (" + offset_of(p_.inputs.size() + static_cast<std::size_t>(k)) + ")";
}

bool map_writer::reads_ends() const {
  bool all = runs() && v_.all_groups && v_.rank > 1;
  for (const cuda_wrap& w : v_.wraps) all = all && (w.axis != inner_ || input_class(w.input) == access::run);
  return all;
}

/// What the lanes of a group need of the run that input `k` finds, by the addresses of the inputs that share it.
void map_writer::run_ends(int k) {
  const int n = run_of(k).pack;
  std::vector<int> known;
  for (int l = 0; l < vec_; ++l) {
    std::vector<std::pair<int, int>> needed;  // an input, and the element of the run
    for (const int j : element_.inputs) {
      if (!in_run(j) || run_of(j).first != run_of(k).first) continue;
      const int e = run_of(j).shift + l * run_of(j).stride;
      if (!contains(known, e)) known.push_back(e), needed.emplace_back(j, e);
    }
    if (needed.empty()) continue;
    t_.scope("", [&] {
      t_("const I c", inner_, " = across + ", l, ";");
      shared_offsets();
      for (const auto& [j, e] : needed) t_("n", k, "[u][", e / n, "].v[", e % n, "] = *(", place_of(j), ");");
    });
  }
}

void map_writer::groups(int count, const std::string& place, const std::string& inside, const text_of& tile_row) {
  const auto step = [this](int k) { return "l * " + stride_of(static_cast<std::size_t>(k), inner_); };
  walk({.element = element_,
        .lanes = vec_,
        .groups = count,
        .place =
            [&] {
              t_(place);
              shared_offsets();
            },
        .inside = inside,
        .value = value_,
        .run = [this](int k) { return run_of(k).shift ? place_of(k) + " - " + num(run_of(k).shift) : place_of(k); },
        .whole = reads_ends() ? "whole" : "",
        .ends = [this](int k) { run_ends(k); },
        .vector =
            [&](int k) {
              if (input_class(k) == access::staged) return tile_row(k);
              return gathered(k) || (vec_ > 1 && input_class(k) == access::linear) ? place_of(k) : std::string();
            },
        .lane =
            [&](int k) {
              const std::string at = "(" + place_of(k) + ")";
              const bool one = vec_ == 1 || input_class(k) == access::lanes;
              if (!gathered(k)) return one ? "*" + at : at + "[" + step(k) + "]";
              return "g" + num(k) + "[u]" + (input_class(k) == access::uniform ? "" : " + " + step(k));
            },
        .coordinate = [this](int j) { return coordinate(j); },
        .use = [this] { stores([this](int k) { return place_of_output(k); }); }});
}

void map_writer::over_outer_axes(const std::function<void()>& coordinates, const std::function<void()>& body) {
  if (v_.rank <= 2) return body();
  t_.scope("for (long long z = blockIdx.z; z < a.outer; z += gridDim.z)", [&] {
    coordinates();
    body();
  });
}

std::string emit_linear(const program& p, const cuda_variant& v) { return linear_writer(p, v).run(); }
std::string emit_strided(const program& p, const cuda_variant& v) { return strided_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
