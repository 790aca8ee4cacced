// Phases with a loop.
#include "jit/cuda/emit_rolled.hpp"

#include "jit/prelude_text.hpp"

namespace sinter::jit::cuda {
namespace {

/// Registers of the lanes that run a loop together: beside what the runs need in between, a thread has room for so many.
constexpr int most_words = 48;

bool is_source(opcode op) noexcept { return op == opcode::load || op == opcode::coord || op == opcode::reduced; }

}  // namespace

bool has_loop(const program& p, const phase& f) noexcept {
  return std::any_of(f.code.begin(), f.code.end(), [&](int k) { return p.is_in_loop(static_cast<std::size_t>(k)); });
}

rolled_phase::rolled_phase(const program& p, const phase& f) {
  const auto at = [&](int k) -> const instr& { return p.code[static_cast<std::size_t>(k)]; };
  for (int k : f.code) {
    const bool inside = p.is_in_loop(static_cast<std::size_t>(k));
    (is_source(at(k).op) || k < p.loop.begin ? before : inside ? run : after).push_back(k);
  }
  const auto read = [&](int r, const std::vector<int>& by) {
    if (at(r).op == opcode::param || contains(by, r)) return;
    state.insert(r);
    if (!contains(f.code, r)) brought.insert(r);
  };
  for (int k : run)
    if (at(k).op == opcode::carried) state.insert(k);
    else p.each_operand(at(k), [&](std::uint16_t r) { read(r, run); });
  for (int r : state) words += static_cast<int>(itemsize(at(r).type) + 3) / 4;
  const auto read_after = [&](int r) {
    read(r, after);
    if (at(r).op == opcode::carried) last.insert(r);
  };
  for (int k : after) p.each_operand(at(k), read_after);
  for (int r : f.results) read_after(r);
}

void define_parts(text& t, const program& p, const phase& f, bool quick) {
  const rolled_phase parts(p, f);
  const std::string name = (quick ? "quick_" : "") + f.name, state = f.name + "_state& s";
  const auto open = [&](const char* part, const std::string& parameters) {
    t("__device__ __forceinline__ void ", name, part, "(const args& a,");
    if (parameters.empty()) put_parameters(t, p, f);
    t(parameters.empty() ? state : parameters, quick ? ", bool& slow) {" : ") {");
  };
  line_writer lines(t, p, f, quick);
  lines.keep(parts.state);
  open("_before", "");
  for (int r : parts.brought) t("s.r", r, " = r", r, ";");
  lines.lines(parts.before);
  for (const carried_desc& c : p.carried) t("s.r", int{c.reg}, " = ", lines.reg(c.initial), ";");
  t("}");
  open("_run", state);
  lines.lines(parts.run);
  for (int r : parts.last) t("s.last", r, " = s.r", r, ";");
  // In descending order, since a carried register may get the value of one of a lower number.
  for (std::size_t k = p.carried.size(); k-- > 0;)
    t("s.r", int{p.carried[k].reg}, " = ", lines.reg(p.carried[k].next), ";");
  t("}");
  lines.keep(parts.state, parts.last);
  open("_after", "const " + state + ", " + f.name + "_out& out");
  lines.lines(parts.after);
  for (int r : f.results) t("out.r", r, " = ", lines.reg(r), ";");
  t("}");
}

void define_state(text& t, const program& p, const phase& f) {
  const rolled_phase parts(p, f);
  t("struct ", f.name, "_state {");
  for (int r : parts.state) t(type_of_value(p, r), " r", r, ";");
  for (int r : parts.last) t(type_of_value(p, r), " last", r, ";");
  t("};");
}

namespace {

/// Calls of the parts with the states `s`. `each`: the statement for all lanes that run together; `after`: the last call.
template <class Each, class After>
void call_in_order(text& t, const program& p, const phase& f, bool quick, const std::string& arguments,
                   const std::string& s, const Each& each, const After& after) {
  const std::string name = (quick ? "quick_" : "") + f.name, slow = quick ? ", slow);" : ");";
  each(name + "_before(a, " + arguments + s + slow);
  t.loop("for (int run = (int)a.q" + num(int{p.loop.count}) + "; run > 0; --run)",
         [&] { each(name + "_run(a, " + s + slow); });
  after(name + "_after(a, " + s + ", out" + slow);
}

}  // namespace

void call_parts(text& t, const program& p, const phase& f, bool quick) {
  const auto call = [&](const std::string& statement) { t(statement); };
  t(f.name, "_state s;");
  call_in_order(t, p, f, quick, names_of_parameters(f), "s", call, call);
}

void call_parts_of_lanes(text& t, const program& p, const phase& f, int lanes, bool quick,
                         const std::function<std::string(const std::string&)>& arguments) {
  const rolled_phase parts(p, f);
  int together = lanes;
  while (together > 1 && together * parts.words > most_words) together /= 2;
  const std::string lane = together == lanes ? "l" : "first + l";
  const auto each = [&](const std::string& call) { t.each("l", together, call); };
  const auto after = [&](const std::string& call) {
    t.unrolled("l", together, [&] {
      t(f.name, "_out out;");
      t(call);
      for (int r : f.results) t("x", r, "[", lane, "] = out.r", r, ";");
    });
  };
  const auto some = [&] {
    t(f.name, "_state s[", together, "];");
    call_in_order(t, p, f, quick, arguments(lane), "s[l]", each, after);
  };
  if (together == lanes) return t.scope("", some);
  t("#pragma unroll");
  t.scope("for (int first = 0; first < " + num(lanes) + "; first += " + num(together) + ")", some);
}

}  // namespace sinter::jit::cuda
