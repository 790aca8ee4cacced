// The plan as text: what runs, over which shapes, how many bytes move, and why nodes are materialised.
#include "graph/run/explain.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "graph/plan/bind.hpp"
#include "graph/plan/planner.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/launch_times.hpp"
#include "graph/run/mesh_hook.hpp"
#include "jit/program/stages.hpp"

namespace sinter::graph {
namespace {

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  int u = 0;
  while (bytes >= 1000 && u < 4) {
    bytes /= 1000;
    ++u;
  }
  char out[32];
  std::snprintf(out, sizeof out, u == 0 ? "%.0f %s" : "%.2f %s", bytes, units[u]);
  return out;
}

double bytes_of(const node* n) { return static_cast<double>(n->size()) * static_cast<double>(itemsize(n->type)); }

const char* kind_text(plan_kind k) {
  switch (k) {
    case plan_kind::elementwise: return "elementwise";
    case plan_kind::reduce: return "reduction";
    case plan_kind::update: return "partial write";
    case plan_kind::alias: return "alias";
    case plan_kind::effect: return "user function";
    case plan_kind::staged: return "rows on chip";
  }
  return "";
}

std::string space_text(const kernel_plan& k) {
  if (k.kind != plan_kind::reduce && k.kind != plan_kind::staged) return core::to_string(k.extents);
  dims kept(k.extents.data(), k.kept);
  dims reduced(k.extents.data() + k.kept, k.extents.size() - k.kept);
  if (k.kind == plan_kind::staged)
    return core::to_string(kept) + " rows of " + core::to_string(reduced) + ", in " +
           std::to_string(k.code.stages.size()) + " stages";
  return core::to_string(kept) + " results, each over " + core::to_string(reduced);
}

/// "sqdiff(r1, r2).z": output z of a call.
std::string call_text(const jit::program& p, const jit::instr& i) {
  const jit::user_call& call = p.calls[i.a];
  const jit::user_function& f = *call.function;
  std::string text = f.name + "(";
  for (std::size_t k = 0; k < call.operands.size(); ++k) text += (k ? ", r" : "r") + std::to_string(call.operands[k]);
  text += ")";
  return f.returns || f.outputs.empty() ? text : text + "." + f.outputs[i.b].name;
}

/// "      -- reduced here: r1, r4; kept on chip: r3".
std::string stage_text(const jit::program& p, int stage) {
  std::string reduced, kept;
  const auto add = [](std::string& list, int reg) { list += (list.empty() ? "r" : ", r") + std::to_string(reg); };
  const auto end = p.stages[static_cast<std::size_t>(stage)].reductions;
  for (int j = jit::first_reduction(p, stage); j < end; ++j) {
    const jit::reduce_desc& r = p.reductions[static_cast<std::size_t>(j)];
    add(reduced, r.reg);
    reduced += std::string(" by ") + jit::about(r.op).name;
  }
  for (const int r : jit::kept_after(p, stage)) add(kept, r);
  return "      -- reduced here: " + reduced + (kept.empty() ? "" : "; kept on chip: " + kept) + "\n";
}

std::string program_text(const jit::program& p, const std::vector<jit::scalar>& params) {
  std::string out;
  const std::int64_t runs = p.loop.end == 0 ? 1 : params[p.loop.count].i;
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const jit::instr& i = p.code[k];
    if (p.loop.end != 0 && k == p.loop.begin) out += "      loop, " + std::to_string(runs) + " times:\n";
    if (p.loop.end != 0 && k == p.loop.end) out += "      end of the loop\n";
    out += "      r" + std::to_string(k) + " = " + (i.op == jit::opcode::user ? call_text(p, i) : jit::name(i.op));
    int operands = jit::operand_count(i.op);
    const std::uint16_t reg[] = {i.a, i.b, i.c};
    if (i.op == jit::opcode::carried)
      out += " r" + std::to_string(p.carried[i.a].initial) + ", then r" + std::to_string(p.carried[i.a].next);
    else if (operands == 0 && i.op != jit::opcode::user) out += " " + std::to_string(i.a);
    for (int a = 0; a < operands; ++a) out += (a ? ", r" : " r") + std::to_string(reg[a]);
    out += std::string(" : ") + std::string(name(i.type)) +
           (k + 1 == p.epilogue && p.epilogue < p.code.size() ? "   -- reduced here\n" : "\n");
    for (std::size_t s = 0; s + 1 < p.stages.size(); ++s)
      if (k + 1 == p.stages[s].end) out += stage_text(p, static_cast<int>(s));
  }
  return out;
}

/// Bytes that a kernel reads: of an operand the elements that its indices reach, but no more than it has, however many times
/// it is read.
double bytes_read(const kernel_plan& k) {
  std::vector<std::pair<const node*, double>> sources;
  for (const input_slot& s : k.inputs) {
    double elements = 1;
    for (int v = 0; v < s.at.coefficients.size(); ++v) {
      if (s.at.coefficients[v] == 0) continue;
      // Where an index is read from memory, any element may be meant.
      elements *= v < k.extents.size() ? static_cast<double>(k.extents[v]) : static_cast<double>(s.source->size());
    }
    if (s.raw) elements = static_cast<double>(s.source->size());
    const double bytes = elements * static_cast<double>(itemsize(s.source->type));
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const auto& x) { return x.first == s.source; });
    if (known == sources.end()) sources.emplace_back(s.source, bytes);
    else known->second += bytes;
  }
  double all = 0;
  for (const auto& [source, bytes] : sources) all += std::min(bytes, bytes_of(source));
  return all;
}

/// How a kernel runs, and how long it took where it has been measured.
std::string schedule_text(runtime::backend& device, const jit::launch& l) {
  const double measured = measured_time(device, l);
  return jit::to_string(device.schedule(l), "  ") +
         (measured < 0 ? "" : "         " + jit::time_text(measured) + " measured\n");
}

/// The plan of pending values of one device.
std::string plan_text(std::span<const value> roots, bool with_source) {
  runtime::backend& device = runtime::get_backend(roots[0]->device);
  std::string out;
  planner plan;
  plan.plan(roots);
  double total = 0;
  int number = 0;
  for (const auto& k : plan.kernels()) {
    out += "kernel " + std::to_string(++number) + ": " +
           (k->code.code.empty() ? "nothing to compute" : k->code.label()) + "  [" + kind_text(k->kind) + "]\n";
    if (k->kind == plan_kind::alias || k->code.code.empty()) continue;
    out += "  space  " + space_text(*k) + "\n";
    double moved = 0;
    for (auto slot = k->inputs.begin(); slot != k->inputs.end(); ++slot) {
      const input_slot& s = *slot;
      if (std::any_of(k->inputs.begin(), slot, [&](const input_slot& t) { return t.source == s.source; })) continue;
      out += "  reads  " + core::to_string(s.source->shape) + " " + std::string(name(s.source->type)) + ", " +
             bytes_text(bytes_of(s.source)) + (s.source->is_leaf() ? "" : " (an earlier kernel's)") + "\n";
    }
    moved += bytes_read(*k);
    if (k->unset_base) out += "  the rest of the array is written by later kernels: its old elements are not copied\n";
    for (node* n : k->results) {
      const auto& e = plan.at(n);
      out += "  writes " + core::to_string(n->shape) + " " + std::string(name(n->type)) + ", " +
             bytes_text(bytes_of(n)) + "  -- " + text(e.why) + "\n";
      moved += k->kind == plan_kind::update ? bytes_of(n->args[1].get()) : bytes_of(n);
    }
    if (!k->code.reductions.empty() && k->code.reductions[0].tail != 0)
      out += "  the last " + std::to_string(k->code.reductions[0].tail) +
             " operations are skipped where they cannot win\n";
    jit::launch l;
    bind(*k, l);  // which may narrow what the program computes
    out += "  moves  " + bytes_text(moved) + ", " + std::to_string(k->code.code.size()) + " instructions\n" +
           program_text(k->code, k->params);
    total += moved;
    out += schedule_text(device, l);
    if (with_source) out += device.source(l);
  }
  return out + std::to_string(plan.kernels().size()) + " kernels, " + bytes_text(total) + " moved\n";
}

}  // namespace

std::string describe(std::span<const value> roots, bool with_source) {
  const std::lock_guard lock(flush_mutex());
  std::string out;
  std::vector<runtime::device_id> described;
  for (const value& root : roots) {
    const runtime::device_id device = root->device;
    if (std::find(described.begin(), described.end(), device) != described.end()) continue;
    described.push_back(device);
    out += "device " + runtime::to_string(device) + " (" + runtime::get_backend(device).description() + ")\n";
    std::vector<value> pending;
    for (const value& v : roots) {
      if (!(v->device == device)) continue;
      if (!v->is_leaf()) pending.push_back(v);
      else out += "in memory: " + core::to_string(v->shape) + " " + std::string(name(v->type)) + ", nothing to run\n";
    }
    if (pending.empty()) continue;
    out += is_on_mesh(device) ? mesh_hook.load()->describe(pending, with_source) : plan_text(pending, with_source);
  }
  return out;
}

}  // namespace sinter::graph
