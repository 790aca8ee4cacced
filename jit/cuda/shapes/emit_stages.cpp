// CUDA kernels of staged programs: a group of threads for each row, which reads the row once. What later stages need of
// it stays in registers: each thread has a number of groups of four elements that is known when the kernel is compiled.
// Or it stays in shared memory, where loops over the groups are not unrolled, so that the kernel compiles sooner.
//
// Groups, their distribution among the threads and the tree over these are those of reductions along rows
// (emit_reduce.cpp), so that sums have the bits that separate kernels would give them.
//
// Of operands of class `staged` a thread reads and writes, of the 32 groups of its warp, elements that lie 32 apart (`base` is
// the first one). Each warp has a strip of shared memory in which groups become such elements and the other way round, so
// all threads of a warp go the same way where there are such operands.
#include <algorithm>
#include <bit>

#include "jit/cuda/shapes/emit_reduction.hpp"
#include "jit/cuda/shapes/kept.hpp"
#include "jit/program/stages.hpp"

namespace sinter::jit::cuda {
namespace {

int words_of(dtype t) noexcept { return (register_bytes(t) + 3) / 4; }

/// Registers for elements that a thread reads before it computes with them.
constexpr int registers_in_flight = 64;
/// Groups of a round of a loop over those that are kept in shared memory; of strips, which take more code, half as many.
constexpr int groups_of_round = 4;
/// Shared memory of a multiprocessor for what blocks keep, on GPUs that have much.
constexpr int kept_bytes_of_multiprocessor = 200 << 10;
/// Bytes of shared memory of a reduction: an accumulator for each warp.
constexpr int shared_bytes = cuda_block / 32 * cuda_partial_bytes;

class stage_writer : kernel_writer {
 public:
  stage_writer(const program& p, const cuda_variant& v) : kernel_writer(p, v) {
    for (int s = 0; s < static_cast<int>(p.stages.size()); ++s) make_stage(s);
  }

  std::string run() {
    open({});
    for (const parts& s : parts_) {
      if (!s.row.code.empty()) define(t_, p_, s.row);
      if (!s.element.code.empty()) define(t_, p_, s.element);
    }
    head(partial_bytes() + cuda_strip_bytes(p_, v_), cuda_block, "", resident_blocks());
    place();
    declare();
    for (int s = 0; s < static_cast<int>(parts_.size()); ++s) {
      row_part(s);
      element_part(s);
      each_reduction(s, [&](int j) { t_("sn::share_row(a", j, ", shared + ", shared_bytes * j, ");"); });
    }
    t_("}");
    return close();
  }

 private:
  struct parts {
    phase row, element;
    std::vector<int> kept;  // registers of this stage that later ones read
    bool any = false;       // whether anything is done for each element
  };

  /// What short rows lack is work in flight while the threads of a row wait for its reductions: other rows'.
  int resident_blocks() const {
    if (v_.kept_in_shared) return std::clamp(kept_bytes_of_multiprocessor / std::max(cuda_kept_bytes(p_, v_), 1), 1, 4);
    const int kept = cuda_kept(p_, v_.groups);
    return kept <= 16 ? 4 : kept <= 32 ? 3 : kept <= 96 ? 2 : 0;
  }
  std::string register_name(int reg) const { return type_of_lane(p_, reg); }
  bool whole_groups() const { return v_.vector == cuda_group; }
  int partial_bytes() const { return shared_bytes * static_cast<int>(p_.reductions.size()); }
  bool by_warps() const { return cuda_strip_bytes(p_, v_) > 0; }
  /// Threads of a warp that have a row.
  int lanes_of_row() const { return 1 << v_.tile.levels; }
  bool is_staged_output(int k) const { return v_.outputs[static_cast<std::size_t>(k)] == access::staged; }
  /// Groups that every thread has whole, whatever extents the kernel serves.
  int whole_rounds() const {
    return v_.all_groups ? v_.groups : v_.groups - static_cast<int>(cuda_rounding(v_.groups));
  }
  /// Whether the groups that are being written lie in their rows.
  bool inside() const { return whole_ >= written_; }
  /// A condition that a group, the u-th of those being written, is asked for where it may not lie in its row; else nothing.
  std::string unless_inside(const std::string& condition) const {
    return inside() ? "" : whole_ > 0 ? "(u < " + num(whole_) + " || " + condition + ")" : condition;
  }
  std::string and_unless_inside(const std::string& condition) const {
    return inside() ? "" : " && " + unless_inside(condition);
  }
  /// Whether a thread may be asked for groups that a row does not have.
  bool beyond_row() const { return by_warps() && !inside(); }
  template <class F>
  void each_reduction(int s, F f) const {
    for (int j = first_reduction(p_, s); j < p_.stages[static_cast<std::size_t>(s)].reductions; ++j) f(j);
  }
  /// The outputs of a stage that have a value for each row, or one for each element.
  template <class F>
  void each_output(int s, bool per_row, F f) const {
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k) {
      const int r = p_.outputs[static_cast<std::size_t>(k)].reg;
      if (is_per_row(p_, r) == per_row && stage_of(p_, r) == s) f(k);
    }
  }

  void make_stage(int s) {
    const stage& bounds = p_.stages[static_cast<std::size_t>(s)];
    const int begin = begin_of_stage(p_, s);
    std::vector<int> rows, elements;
    for (int r = begin; r < bounds.element; ++r)
      if (p_.code[static_cast<std::size_t>(r)].op != opcode::param) rows.push_back(r);
    each_result(p_, s, [&](int r) {
      if (!contains(elements, r)) elements.push_back(r);
    });
    parts made;
    for (const int r : kept_after(p_, s))
      if (r >= begin) made.kept.push_back(r);
    for (const int r : made.kept)
      if (!contains(elements, r)) elements.push_back(r);
    made.any = !elements.empty();
    const auto at = [](int k) { return static_cast<std::size_t>(k); };
    made.row = make_phase(p_, v_, "row" + num(s), instructions(at(begin), at(bounds.element)), rows);
    made.row.runs_once();  // runs once for a row
    made.element = make_phase(p_, v_, "element" + num(s), instructions(at(bounds.element), at(bounds.end)), elements);
    // Results that an earlier stage has computed are read where they are kept.
    std::erase_if(made.element.results, [&](int r) { return r < begin; });
    parts_.push_back(std::move(made));
  }

  void place() {
    t_("const int lane = threadIdx.x, threads = blockDim.x;");
    t_("const long long wanted = (long long)blockIdx.x * blockDim.y + threadIdx.y;");
    t_("const bool live = wanted < a.results;");
    t_("const I row = live ? (I)wanted : 0, elements = (I)a.elements;");
    decompose(t_, "row", 0, v_.kept, "k");
    if (!by_warps()) return;
    t_("const unsigned thread = threadIdx.y * threads + lane;");
    t_("const int at = (int)(thread % 32);");
    t_("unsigned char* const strip = shared + ", partial_bytes(), " + thread / 32 * ",
       cuda_strip_bytes(p_, v_) * 32 / cuda_block, ";");
  }

  void declare() {
    for (int k = 0; k < static_cast<int>(p_.inputs.size()); ++k) base_pointer(k, address(k));
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k)
      t_(storage_type(p_.outputs[static_cast<std::size_t>(k)].type), "* const o", k, " = a.w", k, " + (",
         offset("t", k, 0, v_.kept, "k"), ");");
    if (by_warps() && lanes_of_row() < 32) places_of_rows();
    for (int j = 0; j < static_cast<int>(p_.reductions.size()); ++j) {
      t_(accumulator(p_, j), " a", j, ";");
      t_("a", j, ".init();");
    }
    if (v_.kept_in_shared) return places_of_kept();
    for (const parts& s : parts_)
      for (const int r : s.kept) t_(register_name(r), " keep", r, "[", v_.groups, "][", cuda_group, "];");
  }

  // --- what is kept: keep<r>[g] are the values of a thread's g-th group, in shared memory keep<r>[g * threads of a block]

  void places_of_kept() {
    t_("extern __shared__ __align__(16) unsigned char kept[];");
    for (const kept_place& k : kept_places(p_))
      t_(register_name(k.reg), "(*const keep", k.reg, ")[", cuda_group, "] = reinterpret_cast<", register_name(k.reg),
         "(*)[", cuda_group, "]>(kept + ", k.offset * v_.groups * cuda_group * cuda_block,
         ") + (threadIdx.y * threads + lane);");
  }
  std::string kept(int r, const std::string& number) const {
    return "keep" + num(r) + "[" + number + (v_.kept_in_shared ? " * " + num(cuda_block) : std::string()) + "]";
  }

  // --- operands that are staged: a thread's element of part `l` of a strip, which has those of some rows

  /// Elements of each row in a strip.
  int part() const { return lanes_of_row() * cuda_group; }
  std::string row_in_strip() const { return "((l * 32 + at) / " + num(part()) + ")"; }
  std::string place_in_strip() const { return "(l * 32 + at) % " + num(part()); }

  /// Declares where the rows of a strip begin for a thread, if its own is not the only one.
  void places_of_rows() {
    const auto declare = [&](char name, int k, const std::string& type, char own) {
      t_(type, "* ", std::string(1, name), k, "[", cuda_group, "];");
      t_.each("l", cuda_group, std::string(1, name), k, "[l] = sn::from_lane(", std::string(1, own), k, ", ",
              row_in_strip(), " * ", lanes_of_row(), ") + ", place_in_strip(), ";");
    };
    for (int k = 0; k < static_cast<int>(p_.inputs.size()); ++k)
      if (input_class(k) == access::staged) declare('f', k, std::string("const ") + storage(k), 'b');
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); ++k)
      if (is_staged_output(k)) declare('w', k, stored_type(k), 'o');
    t_("const long long first_row = wanted - at / ", lanes_of_row(), ";");
  }
  std::string stored_type(int k) const { return storage_type(p_.outputs[static_cast<std::size_t>(k)].type); }
  /// The element at `base`; `at_end`: the last one of the row where that lies behind it.
  std::string in_strip(char shared, char own, int k, bool at_end) const {
    const bool alone = lanes_of_row() == 32;
    const std::string row = std::string(1, alone ? own : shared) + num(k) + (alone ? "" : "[l]");
    if (!at_end) return alone ? "(" + row + " + (base + at))[l * 32]" : row + "[base]";
    const std::string at = alone ? "base + at + l * 32" : "base";
    const std::string last = alone ? "elements - 1" : "elements - 1 - " + place_in_strip();
    return row + "[" + at + " <= " + last + " ? " + at + " : " + last + "]";
  }
  /// Whether all of a strip's elements are those of rows.
  std::string whole_strip() const { return "base + " + num(part()) + " <= elements"; }

  void load_staged(int k) {
    const auto load = [&](bool at_end) {
      t_.each("l", cuda_group, "i", k, "[u].v[l] = ", in_strip('f', 'b', k, at_end), ";");
    };
    if (inside()) return load(false);
    t_("if (", unless_inside(whole_strip()), ") {");
    load(false);
    t_("} else {");
    load(true);
    t_("}");
  }

  void store_staged(int k) {
    const std::string to = in_strip('w', 'o', k, false);
    const bool alone = lanes_of_row() == 32;
    const std::string rows = alone ? "live" : "first_row + " + num(32 / lanes_of_row()) + " <= a.results";
    const std::string row = alone ? "live" : "first_row + " + row_in_strip() + " < a.results";
    t_.scope("", [&] {
      t_("sn::pack<", stored_type(k), ", ", cuda_group, "> y;");
      t_.each("l", cuda_group, "y.v[l] = ", narrowed_lane(k), ";");
      t_("sn::to_lanes(y, ", strip_of(stored_type(k)), ");");
      t_("if (", rows, and_unless_inside(whole_strip()), ") {");
      t_.each("l", cuda_group, to, " = y.v[l];");
      t_("} else {");
      t_.each("l", cuda_group, "if (", row, and_unless_inside("base + " + place_in_strip() + " < elements"), ") ", to,
              " = y.v[l];");
      t_("}");
    });
  }

  // --- once for a row

  void row_part(int s) {
    const phase& f = parts_[static_cast<std::size_t>(s)].row;
    if (!f.code.empty()) {
      t_(f.name, "_out q", s, ";");
      t_.scope("", [&] {
        one_element({.element = f,
                     .address = [](int k) { return "b" + num(k); },
                     .coordinate = [](int j) { return "k" + num(j); },
                     .other = [this](char kind, int k) { return row_value(kind, k); }});
        t_("q", s, " = out;");
      });
    }
    each_output(s, true, [&](int k) {
      const output_desc& o = p_.outputs[static_cast<std::size_t>(k)];
      t_("if (live && lane == 0) *o", k, " = ", narrowed(o.type, row_register(o.reg)), ";");
    });
  }

  std::string row_register(int r) const {
    if (p_.code[static_cast<std::size_t>(r)].op == opcode::param)
      return launch_value(p_, static_cast<std::uint16_t>(r), "a");
    return "q" + num(stage_of(p_, r)) + ".r" + num(r);
  }

  argument row_value(char kind, int k) const {
    return {kind == 'd' ? result_of(p_, k, "a" + num(k)) : row_register(k), ""};
  }

  // --- for each element

  /// Groups whose elements are read before the first of them is used.
  int groups_at_once(const phase& f) const {
    int words = 0;
    for (const int k : f.inputs) words += words_of(type(k)) * cuda_group;
    const int most = words ? std::max(registers_in_flight / words, 1) : 4;
    const int at_once = v_.kept_in_shared ? std::min(most, by_warps() ? groups_of_round / 2 : groups_of_round) : most;
    return static_cast<int>(std::min<unsigned>(v_.groups, std::bit_floor(static_cast<unsigned>(at_once))));
  }

  void element_part(int s) {
    const parts& me = parts_[static_cast<std::size_t>(s)];
    if (!me.any) return;
    const int n = groups_at_once(me.element), whole = whole_rounds();
    const int looped = v_.kept_in_shared && whole >= 2 * n ? whole / n * n : 0;
    if (looped) {
      written_ = whole_ = n;
      t_.loop("for (int f = 0; f < " + num(looped) + "; f += " + num(n) + ")",
              [&] { groups(s, me.element, "(u + f)", n); });
    }
    for (int first = looped; first < v_.groups; first += n) {
      written_ = std::min(n, v_.groups - first);
      whole_ = std::max(whole - first, 0);
      t_.scope("", [&] { groups(s, me.element, first ? "(u + " + num(first) + ")" : "u", written_); });
    }
  }

  void groups(int s, const phase& f, const std::string& number, int n) {
    walk({.element = f,
          .lanes = cuda_group,
          .groups = n,
          .order = load_order::by_lane,
          .place = [&] { place_group(number); },
          .inside = unless_inside(by_warps() ? "base < elements" : "r0 < elements"),
          .lane_of_load = [this] { position(); },
          .lane_of_use = f.coords.empty() ? std::function<void()>() : [this] { position(); },
          .value = [](int) { return std::string(); },
          .vector = [this](int k) { return input_class(k) == access::linear ? "b" + num(k) + " + r0" : std::string(); },
          .lane = [this](int k) { return "b" + num(k) + "[" + reduced_offset("s", k, "r") + "]"; },
          .load_staged = [this](int k) { load_staged(k); },
          .take_staged = [this](int k) { t_("sn::to_groups(i", k, "[u], ", strip_of(storage(k)), ");"); },
          .coordinate = [this](int j) { return coordinate(j); },
          .other =
              [&](char, int r) {
                if (is_per_row(p_, r)) return argument{row_register(r), ""};
                return argument{kept(r, number), register_name(r)};
              },
          .use = [&] { use(s, number); }});
  }

  /// base: of the warp's groups, in each row.
  void place_group(const std::string& number) {
    t_("const I r0 = (lane + ", number, " * threads) * ", cuda_group, ";");
    if (!by_warps()) return;
    const std::string group =
        lanes_of_row() < 32 ? number + " * threads" : "(lane / 32 * 32 + " + number + " * threads)";
    t_("const I base = ", group, " * ", cuda_group, ";");
  }
  std::string strip_of(const std::string& type) const { return "reinterpret_cast<" + type + "*>(strip)"; }
  /// Declares the position r of lane l in the row; lanes beyond its end repeat the last element.
  void position() {
    if (whole_groups() || inside()) t_("const I r = r0 + l;");
    else t_("const I r = ", unless_inside("r0 + l < elements"), " ? r0 + l : elements - 1;");
    if (multi_) decompose(t_, "r", v_.kept, v_.rank, "c");
  }

  std::string coordinate(int j) const {
    if (j < v_.kept) return "k" + num(j);
    return multi_ ? "c" + num(j) : "r";
  }

  void use(int s, const std::string& number) {
    each_reduction(s, [&](int j) {
      const int r = p_.reductions[static_cast<std::size_t>(j)].reg;
      step(j, stage_of(p_, r) == s ? "x" + num(r) : kept(r, number));
    });
    // Last, since new values may take the place of old ones.
    for (const int r : parts_[static_cast<std::size_t>(s)].kept)
      t_.each("l", cuda_group, kept(r, number), "[l] = x", r, "[l];");
    each_output(s, false, [&](int k) {
      if (is_staged_output(k)) return store_staged(k);
      t_.scope("if (live" + (by_warps() ? and_unless_inside("r0 < elements") : std::string()) + ")", [&] { store(k); });
    });
  }

  void step(int j, const std::string& x) {
    if (!beyond_row()) return step_inside(j, x);
    t_.scope("if (" + unless_inside("r0 < elements") + ")", [&] { step_inside(j, x); });
  }

  void step_inside(int j, const std::string& x) {
    if (whole_groups() || inside()) return void(t_("a", j, ".step4(", x, ", r0);"));
    t_("if (", unless_inside("r0 + " + num(cuda_group) + " <= elements"), ") {");
    t_("a", j, ".step4(", x, ", r0);");
    t_("} else {");
    const bool ordered = !is_order_free(p_.reductions[static_cast<std::size_t>(j)]);
    const std::string to = ordered ? "last" : "a" + num(j);
    if (ordered) t_(accumulator(p_, j), " last;");
    if (ordered) t_("last.init();");
    t_.each("l", cuda_group - 1, "if (r0 + l < elements) ", to, ".step(", x, "[l], r0 + l);");
    if (ordered) t_("a", j, ".merge(last);");
    t_("}");
  }

  void store(int k) {
    if (v_.outputs[static_cast<std::size_t>(k)] == access::linear) return put(k, cuda_group, "o" + num(k) + " + r0");
    t_.unrolled("l", cuda_group, [&] {
      if (!whole_groups() && !inside()) t_("if (!(", unless_inside("r0 + l < elements"), ")) break;");
      position();
      t_("o", k, "[", reduced_offset("t", k, "r"), "] = ", narrowed_lane(k), ";");
    });
  }

  std::vector<parts> parts_;
  int written_ = 0, whole_ = 0;  // groups being written at once, and how many of these are whole at least
};

}  // namespace

std::string emit_stages(const program& p, const cuda_variant& v) { return stage_writer(p, v).run(); }

}  // namespace sinter::jit::cuda
