// The frame of a kernel, and groups of elements.
#include "jit/cuda/emit_kernel.hpp"

#include <algorithm>

#include "jit/cuda/parameters.hpp"

namespace sinter::jit::cuda {

std::string kernel_writer::reduced_offset(const char* strides, int k, const std::string& r) const {
  if (multi_) return offset(strides, k, v_.kept, v_.rank, "c");
  return "(" + r + ") * a." + strides + num(k) + "_" + num(v_.kept);
}

void kernel_writer::open(std::initializer_list<const phase*> phases) {
  t_("namespace ", cuda_kernel_name(p_, v_), "_ {");
  t_("typedef ", v_.wide_index ? "long long" : "int", " I;");
  t_.add(cuda_args_struct(p_, v_));
  for (const phase* f : phases) define(t_, p_, *f);
}

void kernel_writer::head(int shared_bytes, int threads, const char* suffix, int blocks) {
  t_("extern \"C\" __global__ void __launch_bounds__(", threads, blocks ? ", " + num(blocks) : "", ") ",
     cuda_kernel_name(p_, v_), suffix, "(const __grid_constant__ args a) {");
  if (shared_bytes > 0) t_("__shared__ __align__(16) unsigned char shared[", shared_bytes, "];");
}

std::string kernel_writer::close() {
  t_("}");
  return t_.str();
}

void kernel_writer::base_pointer(int k, const std::string& from) {
  t_("const ", storage(k), "* const b", k, " = ", from, ";");
}

void kernel_writer::fixed_value(int k, const std::string& element) {
  t_("const ", value_type(k), " u", k, " = ", widened(type(k), element), ";");
}

// --- loads

void kernel_writer::fetch(const std::string& to, int lanes, const std::string& from) {
  t_(to, " = sn::fetch<", lanes, ">(", from, ");");
}

void kernel_writer::fetch_lanes(const std::string& to, int lanes, const std::string& element) {
  t_.each("l", lanes, to, ".v[l] = ", element, ";");
}

void kernel_writer::walk(const group_loop& g) {
  declare_packs(g);
  load_groups(g);
  t_.unrolled("u", g.groups, [&] {
    g.place();
    if (g.inside.empty()) use_group(g);
    else t_.scope("if (" + g.inside + ")", [&] { use_group(g); });
  });
}

void kernel_writer::declare_packs(const group_loop& g) {
  for (const int k : g.element.inputs) {
    if (!g.value(k).empty()) continue;
    if (g.run && in_run(k)) {
      if (finds_run(k)) t_(pack(k, run_of(k).pack), " n", k, "[", g.groups, "][", int{run_of(k).packs}, "];");
    } else if (!gathered(k))
      t_(pack(k, lanes_read(g, k)), " i", k, "[", g.groups, g.across ? "][" + num(g.lanes) : "", "];");
    else if (!g.vector(k).empty()) t_("const ", storage(k), "* g", k, "[", g.groups, "];");
  }
}

int kernel_writer::lanes_read(const group_loop& g, int k) const {
  return input_class(k) == access::lanes ? 1 : g.across ? g.across : g.lanes;
}

void kernel_writer::load_groups(const group_loop& g) {
  std::vector<int> inputs;
  for (const int k : g.element.inputs)
    if (g.value(k).empty() && (!gathered(k) || !g.vector(k).empty())) inputs.push_back(k);
  // Elsewhere an empty loop keeps the compiler from copying the one around it.
  if (inputs.empty() && g.order != load_order::by_input) return;
  const auto groups = [&](const std::vector<int>& some) {
    t_.unrolled("u", g.groups, [&] {
      g.place();
      if (g.inside.empty()) load_group(g, some);
      else t_.scope("if (" + g.inside + ")", [&] { load_group(g, some); });
    });
  };
  if (g.order != load_order::by_group) return groups(inputs);
  for (const int k : inputs) groups({k});
}

void kernel_writer::load_group(const group_loop& g, const std::vector<int>& inputs) {
  std::vector<int> loose;
  for (const int k : inputs) {
    const std::string at = g.across ? std::string() : g.vector(k);
    if (gathered(k)) t_("g", k, "[u] = ", at, ";");
    else if (g.run && in_run(k)) load_run(g, k);
    else if (g.load_staged && input_class(k) == access::staged) g.load_staged(k);
    else if (!at.empty()) fetch("i" + num(k) + "[u]", g.lanes, at);
    else if (g.order == load_order::by_lane) loose.push_back(k);
    else fetch_lanes("i" + num(k) + "[u]", lanes_read(g, k), g.lane(k));
  }
  if (!loose.empty()) load_lanes(g, loose);
}

/// What the lanes need of a run; where some of it lies outside of the row, element by element.
void kernel_writer::load_run(const group_loop& g, int k) {
  if (!finds_run(k)) return;
  const int n = run_of(k).pack, packs = run_of(k).packs;
  const std::string to = "n" + num(k) + "[u]";
  t_.scope("", [&] {
    t_("const ", storage(k), "* const from = ", g.run(k), ";");
    if (!g.whole.empty()) t_("if (", g.whole, ") {");
    t_.each("w", packs, to, "[w] = sn::fetch<", n, ">(from + w * ", n, ");");
    if (g.whole.empty()) return;
    t_("} else {");
    if (g.ends) g.ends(k);
    else t_.each("e", packs * n, "if (", g.within(k), ") ", to, "[e / ", n, "].v[e % ", n, "] = from[e];");
    t_("}");
  });
}

void kernel_writer::load_lanes(const group_loop& g, const std::vector<int>& inputs) {
  t_.unrolled("l", g.lanes, [&] {
    g.lane_of_load();
    for (const int k : inputs) {
      const std::string to = "i" + num(k) + "[u]";
      if (!g.across) t_(to, ".v[l] = ", g.lane(k), ";");
      else if (const std::string at = g.vector(k); !at.empty()) fetch(to + "[l]", g.across, at);
      else t_.each("v", lanes_read(g, k), to, "[l].v[v] = ", g.lane(k), ";");
    }
  });
}

// --- use

void kernel_writer::use_group(const group_loop& g) {
  for (const int k : g.element.inputs)
    if (g.take_staged && input_class(k) == access::staged) g.take_staged(k);
  if (g.same_lanes) lanes_of_group(g);
  for (const auto& [name, count] : g.results) {
    t_("#pragma unroll");
    t_("for (int ", name, " = 0; ", name, " < ", count, "; ++", name, ") {");
  }
  if (!g.same_lanes) lanes_of_group(g);
  run_phase(g);
  for (std::size_t k = 0; k < g.results.size(); ++k) t_("}");
}

std::string kernel_writer::lane_value(const group_loop& g, int k) const {
  if (gathered(k)) return g.lane(k);
  if (g.stored) return widened(type(k), g.stored(k));
  if (in_run(k)) {
    const cuda_run& r = run_of(k);
    const std::string e = "(" + num(r.shift) + " + l * " + num(r.stride) + ")", n = num(r.pack);
    return widened(type(k), "n" + num(r.first) + "[u][" + e + " / " + n + "].v[" + e + " % " + n + "]");
  }
  const bool one = input_class(k) == access::lanes;
  const char* const lane = g.across == 0 ? one ? ".v[0]" : ".v[l]" : g.across == 1 || one ? "[l].v[0]" : "[l].v[v]";
  return widened(type(k), "i" + num(k) + "[u]" + lane);
}

void kernel_writer::lanes_of_group(const group_loop& g) {
  std::vector<int> inputs;
  for (const int k : g.element.inputs)
    if (g.value(k).empty()) inputs.push_back(k);
  for (const int k : inputs)
    t_(gathered(k) ? "const " + std::string(storage(k)) + "*" : value_type(k), " z", k, "[", g.lanes, "];");
  for (const int j : g.element.coords)
    t_(g.element.place ? "sn::random_place" : "long long", " k_", j, "[", g.lanes, "];");
  if (g.lane_of_use) return lanes_together(g, inputs);
  for (const int k : inputs) t_.each("l", g.lanes, "z", k, "[l] = ", lane_value(g, k), ";");
  for (const int j : g.element.coords) t_.each("l", g.lanes, "k_", j, "[l] = ", g.coordinate(j), ";");
}

void kernel_writer::lanes_together(const group_loop& g, const std::vector<int>& inputs) {
  if (inputs.empty() && g.element.coords.empty()) return;
  t_.unrolled("l", g.lanes, [&] {
    g.lane_of_use();
    for (const int k : inputs)
      if (g.stored && !gathered(k)) t_("const ", storage(k), " i", k, " = ", g.stored(k), ";");
    for (const int k : inputs) {
      const bool loaded = g.stored && !gathered(k);
      t_("z", k, "[l] = ", loaded ? widened(type(k), "i" + num(k)) : lane_value(g, k), ";");
    }
    for (const int j : g.element.coords) t_("k_", j, "[l] = ", g.coordinate(j), ";");
  });
}

void kernel_writer::run_phase(const group_loop& g) {
  if (g.slow_elsewhere) call_lanes(t_, p_, g.element, g.lanes, g.element.quick, source(g));
  else if (!g.element.code.empty() || !g.element.results.empty()) call_group(t_, p_, g.element, g.lanes, source(g));
  g.use();
}

namespace {

/// What a shape has besides inputs and coordinates. Of an invalid program that may be missing; its text does not compile.
argument other(const argument_source& of, char kind, int k) { return of ? of(kind, k) : argument{kind + num(k), ""}; }

}  // namespace

argument_source kernel_writer::source(const group_loop& g) const {
  return [this, &g](char kind, int k) -> argument {
    if (kind == 'c') return {"k_" + num(k), g.element.place ? "sn::random_place" : "long long"};
    if (kind != 'v') return other(g.other, kind, k);
    if (const std::string one = g.value(k); !one.empty()) return {one, ""};
    return {"z" + num(k), gathered(k) ? std::string("const ") + storage(k) + "*" : value_type(k)};
  };
}

std::string kernel_writer::narrowed_lane(int output) const {
  const output_desc& o = p_.outputs[static_cast<std::size_t>(output)];
  return narrowed(o.type, "x" + num(o.reg) + "[l]");
}

void kernel_writer::put(int output, int lanes, const std::string& at) {
  const char* const stored = storage_type(p_.outputs[static_cast<std::size_t>(output)].type);
  t_.scope("", [&] {
    t_("sn::pack<", stored, ", ", lanes, "> y;");
    t_.each("l", lanes, "y.v[l] = ", narrowed_lane(output), ";");
    t_("sn::put(", at, ", y);");
  });
}

void kernel_writer::one_element(const single_element& e) {
  call_once(t_, e.element, [&](char kind, int k) -> argument {
    if (kind == 'c') return {e.coordinate(k), ""};
    if (kind != 'v') return other(e.other, kind, k);
    if (const std::string one = e.value ? e.value(k) : std::string(); !one.empty()) return {one, ""};
    return {gathered(k) ? e.address(k) : widened(type(k), "*(" + e.address(k) + ")"), ""};
  });
  if (!e.place) return;
  for (std::size_t k = 0; k < p_.outputs.size(); ++k)
    t_(e.place(static_cast<int>(k)), " = ", narrowed(p_.outputs[k].type, "out.r" + num(p_.outputs[k].reg)), ";");
}

}  // namespace sinter::jit::cuda
