// Functions of reductions that do not change: elements, how they are joined, and what follows from the results.
#include <algorithm>
#include <bit>

#include "jit/cpu/fixed.hpp"
#include "jit/cpu/fixed_phase.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

/// Instructions that are computed for the elements of a group beside each other.
constexpr std::size_t most_repeated = 48;
/// Elements that are computed before they are joined; bytes of the lanes of all results.
constexpr std::int64_t most_computed = 4096, most_lane_bytes = 64 << 10;
/// Results that are worth lanes of a vector, and elements that are too few to be.
constexpr std::int64_t few_results = 4, many_results = 8, few_elements = 16;

std::int64_t power_of_two_below(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

std::string loop(const std::string& i, const std::string& from, std::int64_t to) {
  return "for (long long " + i + " = " + from + "; " + i + " < " + num(to) + "; ++" + i + ") ";
}

}  // namespace

/// Whether neighbours in memory belong to neighbouring results rather than to one.
bool fixed_emitter::runs_along_results() const {
  if (l_.kept == 0) return false;
  int kept = l_.kept - 1, reduced = l_.extents.size() - 1;
  int along = 0;
  for (std::size_t k = 0; k < l_.inputs.size(); ++k) {
    const core::dims& s = l_.inputs[k].strides;
    along += (s[kept] == 1) - (s[reduced] == 1);
  }
  return along > 0 && results_ >= few_results;
}

std::string fixed_emitter::element(std::size_t j, const std::string& result, const std::string& place) const {
  if (direct_) return "x" + num(j) + "(" + result + ", " + place + ")";
  const std::string array = "t" + num(l_.code.reductions[j].reg);
  return turned_ ? array + "[(" + place + ") * " + num(results_) + " + " + result + "]"
                 : array + "[" + result + " * " + num(reduced_) + " + (" + place + ")]";
}

/// A group of additions, which may be short, or of multiplications.
std::string fixed_emitter::group(std::size_t j, const std::string& result, const std::string& first,
                                 std::int64_t count) const {
  const char* const op = l_.code.reductions[j].op == reduce_op::sum ? " + " : " * ";
  const auto at = [&](int n) { return element(j, result, first + (n ? " + " + num(n) : std::string())); };
  if (count == 1) return at(0);
  const std::string pair = "(" + at(0) + op + at(1) + ")";
  if (count == 2) return pair;
  return count == 3 ? pair + op + at(2) : pair + op + "(" + at(2) + op + at(3) + ")";
}

/// Joins lanes: `lane` is the text of a lane with @ in the place of its number, `of` what is done for each of them.
void fixed_emitter::write_lane_tree(const std::string& lane, const std::string& of, std::int64_t present) {
  const auto text = [&](const std::string& n) {
    std::string all = lane;
    all.replace(all.find('@'), 1, n);
    return all;
  };
  const auto join = [&](const std::string& to, const std::string& from) {
    return of + text(to) + " = SN_JOIN(" + text(to) + ", " + text(from) + ");\n";
  };
  const std::int64_t lanes = l_.order.lanes;
  if (!l_.order.rows) {
    for (std::int64_t w = lanes / 2; w >= 1; present = w, w /= 2)
      if (w < present) out_ += "    " + loop("k", "0", std::min(w, present - w)) + join("k", "k + " + num(w));
    return;
  }
  const std::int64_t run = std::min(lanes, addition_run);
  for (std::int64_t w = 1; w < run && w < present; w *= 2)
    out_ += "    for (long long k = 0; k + " + num(w) + " < " + num(present) + "; k += " + num(2 * w) + ") " +
            join("k", "k + " + num(w));
  if (lanes > run && present > run)
    out_ +=
        "    for (long long k = " + num(run) + "; k < " + num(present) + "; k += " + num(run) + ") " + join("0", "k");
}

// The order of additions (jit/program/addition_order.hpp) of one split. A lane that has no group yet takes its first one as it is.
void fixed_emitter::write_totals(std::size_t j, bool across) {
  const reduce_desc& r = l_.code.reductions[j];
  const std::string type = register_type(r.type), me = num(j);
  const std::int64_t groups = (reduced_ + addition_group - 1) / addition_group, whole = reduced_ / addition_group,
                     lanes = std::min(l_.order.lanes, groups), rest = reduced_ - whole * addition_group;
  const char* const op = r.op == reduce_op::sum ? "+" : "*";
  out_ += std::string("#define SN_JOIN(a, b) (") + type + ")((a) " + op + " (b))\n  {\n";
  const std::string rest_at = num(whole * addition_group);
  const auto add = [&](const std::string& to, const std::string& x) {
    return to + " = SN_JOIN(" + to + ", " + x + ");\n";
  };
  if (across) {
    const std::string all = "SN_EACH(r, " + num(results_) + ") ";
    bytes_ += lanes * results_ * lane_bytes(r.type);
    if (lanes * results_ * lane_bytes(r.type) > most_lane_bytes) suits_ = false;
    out_ += "    alignas(64) " + type + " a[" + num(lanes) + "][" + num(results_) + "];\n";
    out_ += "    " + loop("g", "0", std::min(lanes, whole)) + all + "a[g][r] = " + group(j, "r", "4 * g", 4) + ";\n";
    if (whole > lanes)
      out_ += "    " + loop("g", num(lanes), whole) + "{\n      " + type + "* const b = a[g % " + num(lanes) +
              "];\n      " + all + add("b[r]", group(j, "r", "4 * g", 4)) + "    }\n";
    if (rest > 0) {
      const std::string last = group(j, "r", rest_at, rest), to = "a[" + num(whole % lanes) + "][r]";
      out_ += "    " + all + (whole < lanes ? to + " = " + last + ";\n" : add(to, last));
    }
    write_lane_tree("a[@][r]", all, lanes);
    out_ += "    " + all + "s" + me + "[r] = sn_tidy(a[0][r]);\n  }\n#undef SN_JOIN\n";
    return;
  }
  out_ += "  " + loop("r", "0", results_) + "{\n    alignas(64) " + type + " a[" + num(groups) + "];\n";
  bytes_ += groups * lane_bytes(r.type);
  if (whole > 0) out_ += "    SN_EACH(g, " + num(whole) + ") a[g] = " + group(j, "r", "4 * g", 4) + ";\n";
  if (rest > 0) out_ += "    a[" + num(whole) + "] = " + group(j, "r", rest_at, rest) + ";\n";
  if (groups > lanes)
    out_ += "    for (long long b = " + num(lanes) + "; b + " + num(lanes) + " <= " + num(groups) +
            "; b += " + num(lanes) + ")\n      SN_EACH(k, " + num(lanes) + ") " + add("a[k]", "a[b + k]");
  if (const std::int64_t left = groups % lanes; left > 0)
    out_ += "    SN_EACH(k, " + num(left) + ") " + add("a[k]", "a[" + num(groups - left) + " + k]");
  write_lane_tree("a[@]", "", lanes);
  out_ += "    s" + me + "[r] = sn_tidy(a[0]);\n  }\n  }\n#undef SN_JOIN\n";
}

void fixed_emitter::write_extrema(std::size_t j, bool across) {
  const reduce_desc& r = l_.code.reductions[j];
  const std::string type = register_type(r.type), me = num(j);
  const std::string join = std::string("sn_extreme<") + (r.op == reduce_op::min ? "true" : "false") + ">(";
  if (across) {
    const std::string all = "SN_EACH(r, " + num(results_) + ") ", to = "s" + me + "[r]";
    out_ += "  " + all + to + " = " + element(j, "r", "0") + ";\n";
    out_ += "  " + loop("d", "1", reduced_) + all + to + " = " + join + to + ", " + element(j, "r", "d") + ");\n";
    out_ += "  " + all + to + " = sn_tidy(" + to + ");\n";
    return;
  }
  const std::int64_t below = power_of_two_below(reduced_),
                     wide = below == reduced_ ? std::max<std::int64_t>(below / 2, 1) : below, both = reduced_ - wide;
  out_ += "  " + loop("r", "0", results_) + "{\n    alignas(64) " + type + " a[" + num(wide) + "];\n";
  bytes_ += wide * lane_bytes(r.type);
  if (both > 0)
    out_ += "    SN_EACH(k, " + num(both) + ") a[k] = " + join + element(j, "r", "k") + ", " +
            element(j, "r", "k + " + num(wide)) + ");\n";
  if (both < wide) out_ += "    " + loop("k", num(both), wide) + "a[k] = " + element(j, "r", "k") + ";\n";
  for (std::int64_t w = wide / 2; w >= 1; w /= 2)
    out_ += "    SN_EACH(k, " + num(w) + ") a[k] = " + join + "a[k], a[k + " + num(w) + "]);\n";
  out_ += "    s" + me + "[r] = sn_tidy(a[0]);\n  }\n";
}

/// The place of the first number that is none, else of the first extremum.
void fixed_emitter::write_places(std::size_t j, bool across) {
  const reduce_desc& r = l_.code.reductions[j];
  const std::string type = register_type(r.arg), me = num(j), to = "s" + me + "[r]";
  const std::string better = std::string("sn_better<") + (r.op == reduce_op::argmin ? "true" : "false") + ">(x, a";
  if (across) {
    const std::string all = "SN_EACH(r, " + num(results_) + ") ";
    bytes_ += results_ * lane_bytes(r.arg);
    out_ += "  alignas(64) " + type + " a" + me + "[" + num(results_) + "];\n  " + all + "a" + me +
            "[r] = " + element(j, "r", "0") + ", " + to + " = 0;\n  " + loop("d", "1", reduced_) + all +
            "{\n    const " + type + " x = " + element(j, "r", "d") + ", a = a" + me +
            "[r];\n    const bool b = " + better + ");\n    a" + me + "[r] = b ? x : a;\n    " + to +
            " = b ? d : " + to + ";\n  }\n";
    return;
  }
  out_ += "  " + loop("r", "0", results_) + "{\n    " + type + " a = " + element(j, "r", "0") +
          ";\n    long long at = 0;\n    " + loop("d", "1", reduced_) + "{\n      const " + type +
          " x = " + element(j, "r", "d") + ";\n      const bool b = " + better +
          ");\n      a = b ? x : a;\n      at = b ? d : at;\n    }\n    " + to + " = at;\n  }\n";
}

/// Sums and products of integers as well.
void fixed_emitter::write_counts(std::size_t j, bool across) {
  const reduce_desc& r = l_.code.reductions[j];
  const bool product = r.op == reduce_op::all || r.op == reduce_op::prod;
  const std::string type = fixed_lane(r.type), me = num(j), first = product ? "1" : "0";
  const char* const op = r.op == reduce_op::any ? " | " : r.op == reduce_op::all ? " & " : product ? " * " : " + ";
  const auto next = [&](const std::string& to) {
    return to + " = (" + type + ")(" + to + op + element(j, "r", "d") + ");\n";
  };
  if (across) {
    const std::string all = "SN_EACH(r, " + num(results_) + ") ", to = "s" + me + "[r]";
    out_ += "  " + all + to + " = " + first + ";\n  " + loop("d", "0", reduced_) + all + next(to);
    return;
  }
  out_ += "  " + loop("r", "0", results_) + "{\n    " + type + " a = " + first + ";\n    " + loop("d", "0", reduced_) +
          next("a") + "    s" + me + "[r] = a;\n  }\n";
}

void fixed_emitter::write_reductions() {
  const program& p = l_.code;
  write_operands();
  std::vector<int> kept, reduced;
  for (int a = 0; a < l_.extents.size(); ++a) (a < l_.kept ? kept : reduced).push_back(a);
  const auto longer = [&](const std::vector<int>& axes) {
    return std::count_if(axes.begin(), axes.end(), [&](int a) { return l_.extents[a] != 1; });
  };
  const bool along = runs_along_results();
  turned_ = along;
  std::vector<int> axes = turned_ ? reduced : kept;
  axes.insert(axes.end(), (turned_ ? kept : reduced).begin(), (turned_ ? kept : reduced).end());
  phase elements(l_, axes, operations_);
  std::vector<std::uint16_t> wanted;
  for (const reduce_desc& r : p.reductions) wanted.push_back(r.reg);
  // What several reductions read is computed once; truth values are read in loops of their own.
  const std::size_t repeated = p.epilogue * wanted.size();
  const bool has_truths =
      std::any_of(p.inputs.begin(), p.inputs.end(), [](const input_desc& i) { return i.type == dtype::b1; });
  direct_ = longer(kept) <= 1 && longer(reduced) <= 1 && repeated <= most_repeated && !elements.calls_for(wanted) &&
            (!has_truths || l_.elements() > most_computed);
  if (direct_) {
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      phase one(l_, axes, operations_);
      one.write_function(out_, "x" + num(j), wanted[j]);
      parts_ |= one.parts();
    }
  } else {
    if (l_.elements() > most_computed) suits_ = false;
    for (const std::uint16_t reg : wanted) elements.keep(reg);
    elements.write(out_);
    parts_ |= elements.parts();
    bytes_ += elements.bytes();
  }
  const bool across = along || (results_ >= many_results && reduced_ < few_elements);
  for (std::size_t j = 0; j < p.reductions.size(); ++j) {
    const reduce_desc& r = p.reductions[j];
    out_ += "  alignas(64) " + fixed_lane(r.type) + " s" + num(j) + "[" + num(results_) + "];\n";
    bytes_ += results_ * lane_bytes(r.type);
    const bool ordered = (r.op == reduce_op::sum || r.op == reduce_op::prod) && is_inexact(r.type);
    if (ordered) write_totals(j, across);
    else if (r.op == reduce_op::min || r.op == reduce_op::max) write_extrema(j, across);
    else if (r.op == reduce_op::argmin || r.op == reduce_op::argmax)
      write_places(j, across || results_ >= many_results);
    else write_counts(j, across);
  }
  out_ += "  {\n";
  phase results(l_, kept, operations_);
  for (std::size_t k = 0; k < p.outputs.size(); ++k) results.store(k);
  results.write(out_);
  parts_ |= results.parts();
  bytes_ += results.bytes();
  out_ += "  }\n";
}

}  // namespace sinter::jit
