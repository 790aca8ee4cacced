// generalized_kernel: sub-arrays as raw arrays with one axis for all loop dimensions. The start of a sub-array is an
// ordinary int64 input, an affine function of the loop's coordinates, so broadcast loop axes are not materialised.
#include <algorithm>

#include "core/shape.hpp"
#include "graph/run/call.hpp"
#include "ops/base/axes.hpp"
#include "ops/kernels/call.hpp"
#include "ops/kernels/run.hpp"
#include "sinter/generalized_kernel.hpp"

namespace sinter::inline v0 {

using namespace ops;

struct generalized_kernel::implementation {
  kernel_head head;
  core_signature core;
  std::string body, preamble;
  function_cache<const jit::user_function*> functions;
};

namespace {

using implementation = generalized_kernel::implementation;
using core_dimensions = std::vector<core_dimension>;

std::string to_string(const core_dimensions& list) {
  std::string text = "(";
  for (std::size_t k = 0; k < list.size(); ++k)
    text += (k > 0 ? "," : "") + (list[k].name.empty() ? std::to_string(list[k].extent) : list[k].name);
  return text + ")";
}

int rank_of(const core_dimensions& list) { return static_cast<int>(list.size()); }

std::string shown_list(const std::vector<parameter>& parameters, const std::vector<core_dimensions>& core) {
  std::string text;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    text += (k > 0 ? ", " : "") + ops::to_string(parameters[k]) + to_string(core[k]);
  return text;
}

/// Checks that there are as many groups as parameters, none of them raw.
void check_groups(const kernel_head& k, const std::vector<parameter>& parameters,
                  const std::vector<core_dimensions>& core, const char* what) {
  if (parameters.size() != core.size())
    fail<value_error>(k.name, "the signature has ", core.size(), " ", what, "s for ", parameters.size(), " ", what,
                      " parameters");
  for (const parameter& p : parameters)
    if (p.raw) fail<value_error>(k.name, p.name, " is raw, which has no meaning in a generalised kernel");
}

void check_dimensions(const kernel_head& k, const core_signature& core) {
  std::vector<std::string> known;
  for (const core_dimensions& list : core.inputs)
    for (const core_dimension& d : list)
      if (!d.name.empty()) known.push_back(d.name);
  for (const core_dimensions& list : core.outputs)
    for (const core_dimension& d : list)
      if (!d.name.empty() && std::find(known.begin(), known.end(), d.name) == known.end())
        fail<value_error>(k.name, "core dimension ", d.name, " of an output appears in no input");
  for (const auto* list : {&k.inputs, &k.outputs})
    for (const parameter& p : *list)
      for (const std::string& name : known)
        if (name == p.name || (name.size() == 1 && name[0] == p.type.letter))
          fail<value_error>(k.name, "'", name, "' names a core dimension and a parameter or type");
}

/// The extents of the core and loop dimensions in one call.
struct core_extents {
  struct bound {
    std::string name;
    std::int64_t extent;
    std::size_t input;  // that first defined it
  };
  std::vector<bound> known;
  std::vector<dims> loops;  // of each input
  dims loop;                // what they broadcast to

  const bound* find(const std::string& name) const {
    for (const bound& b : known)
      if (b.name == name) return &b;
    return nullptr;
  }
  std::int64_t extent_of(const core_dimension& d) const { return d.name.empty() ? d.extent : find(d.name)->extent; }
};

const dims& shape_of(const implementation& k, const operand& x) {
  static const auto& none = *new dims;
  return x.is_array() ? view_of(x.array(), k.head.function()).shape : none;
}

void match_dimension(const implementation& k, operands arguments, std::size_t input, const core_dimension& d,
                     int position, std::int64_t extent, core_extents& all) {
  const auto described = [&](std::size_t n) {
    return k.head.inputs[n].name + " of shape " + core::to_string(shape_of(k, *arguments[n]));
  };
  if (d.name.empty()) {
    if (extent != d.extent)
      fail<shape_error>(k.head.name, "core dimension ", position, " of ", described(input), " has extent ", extent,
                        ", but the signature says ", d.extent, "; ", k.head.signature);
  } else if (const auto* b = all.find(d.name)) {
    if (extent != b->extent)
      fail<shape_error>(k.head.name, "core dimension ", d.name, " is ", b->extent, " in ", described(b->input),
                        ", but ", extent, " in ", described(input), "; ", k.head.signature);
  } else {
    all.known.push_back({d.name, extent, input});
  }
}

core_extents match_extents(const implementation& k, operands arguments) {
  core_extents all;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const core_dimensions& list = k.core.inputs[a];
    const dims& shape = shape_of(k, *arguments[a]);
    const int lead = shape.size() - rank_of(list);
    if (lead < 0)
      fail<shape_error>(k.head.name, k.head.inputs[a].name, " of shape ", shape, " lacks core dimensions ",
                        to_string(list), "; ", k.head.signature);
    for (int j = 0; j < rank_of(list); ++j)
      match_dimension(k, arguments, a, list[static_cast<std::size_t>(j)], j, shape[lead + j], all);
    all.loops.emplace_back(shape.data(), lead);
  }
  std::vector<const dims*> loops;
  for (const dims& l : all.loops) loops.push_back(&l);
  all.loop = broadcast_shapes(loops, k.head.function());
  return all;
}

/// `first` followed by the extents of core dimensions.
dims with_core(dims first, const core_dimensions& list, const core_extents& all) {
  for (const core_dimension& d : list) first.push_back(all.extent_of(d));
  return first;
}

std::string declare_sub_array(const std::string& name, int rank, const std::string& at) {
  const std::string all = "sn_all_" + name;
  return "const sn::sub_array<const decltype(" + all + "), " + std::to_string(rank) + "> " + name + "{" + all + ", " +
         at + "};\n";
}

jit::user_function typed_function(const implementation& k, operands arguments, const letter_types& letters) {
  jit::user_function f = new_function(k.head.name, letters, k.preamble, k.body);
  std::string declarations;
  std::vector<std::string> named;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    jit::user_parameter p = input_parameter(k.head, a, *arguments[a], letters);
    const core_dimensions& list = k.core.inputs[a];
    if (list.empty()) {
      f.inputs.push_back(p);
      continue;
    }
    const std::string name = p.name, at = "sn_at_" + name;
    p.name = "sn_all_" + name;
    p.raw = true;
    p.rank = static_cast<std::uint8_t>(1 + list.size());
    f.inputs.push_back(p);
    f.inputs.push_back({.name = at, .type = dtype::i64, .opaque = {}});
    declarations += declare_sub_array(name, rank_of(list), at);
    for (std::size_t j = 0; j < list.size(); ++j) {
      const std::string& dimension = list[j].name;
      if (dimension.empty() || std::find(named.begin(), named.end(), dimension) != named.end()) continue;
      named.push_back(dimension);
      declarations += "const long long " + dimension + " = " + p.name + ".shape(" + std::to_string(j + 1) + ");\n";
    }
  }
  bool any_core = false;
  for (std::size_t a = 0; a < k.head.outputs.size(); ++a) {
    jit::user_parameter p = generated_parameter(k.head, k.head.outputs[a], ndarray(), letters);
    const core_dimensions& list = k.core.outputs[a];
    if (!list.empty()) {
      any_core = true;
      declarations += declare_sub_array(p.name, rank_of(list), "sn_at");
      p.name = "sn_all_" + p.name;
      p.raw = true;
      p.rank = static_cast<std::uint8_t>(1 + list.size());
    }
    f.outputs.push_back(p);
  }
  if (any_core) f.inputs.push_back({.name = "sn_at", .type = dtype::i64, .opaque = {}});
  f.setup = std::move(declarations);
  return f;
}

/// Operands in the order of typed_function's inputs.
std::vector<graph::value> core_values(const implementation& k, operands arguments, const letter_types& letters,
                                      const core_extents& all, runtime::device_id device) {
  std::vector<graph::value> values;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    graph::value v = argument_value(k.head, a, *arguments[a], letters, device);
    const core_dimensions& list = k.core.inputs[a];
    if (list.empty()) {
      values.push_back(std::move(v));
      continue;
    }
    values.push_back(reshape_value(v, with_core(dims{core::element_count(all.loops[a])}, list, all)));
    values.push_back(positions(all.loops[a], device));
  }
  return values;
}

/// Runs the kernel and writes the outputs; the kernel writes their sub-arrays stacked along one axis.
std::vector<ndarray> run_with_core(const implementation& k, const jit::user_function* f, const core_extents& all,
                                   std::vector<graph::value> values, std::span<const ndarray> out,
                                   runtime::device_id device) {
  std::vector<graph::view_ref> targets;
  for (std::size_t a = 0; a < out.size(); ++a) {
    const core_dimensions& list = k.core.outputs[a];
    const dims shape = list.empty() ? all.loop : with_core(dims{core::element_count(all.loop)}, list, all);
    targets.push_back(uninitialised(shape, f->outputs[a].type, device, k.head.function()));
  }
  graph::run_call(f, all.loop, std::move(values), targets);
  std::vector<ndarray> results;
  for (std::size_t a = 0; a < out.size(); ++a) {
    const graph::value written = targets[a]->store->now();
    results.push_back(deliver(out[a], graph::make_leaf(written->buffer, written->buffer_offset,
                                                       with_core(all.loop, k.core.outputs[a], all), written->type)));
  }
  return results;
}

}  // namespace

generalized_kernel::generalized_kernel(std::string_view signature, std::string_view inputs, std::string_view outputs,
                                       std::string_view body, std::string_view name, const generalized_kernel_kw& kw) {
  check_identifier(text_of("kernel", name, "name"));
  auto k = std::make_shared<implementation>();
  kernel_head& head = k->head;
  head.name = std::string(name);
  head.inputs = parse_parameters(text_of(name, inputs, "input parameters"));
  head.outputs = parse_parameters(text_of(name, outputs, "output parameters"));
  k->core = parse_core_signature(text_of(name, signature, "signature"));
  check_groups(head, head.inputs, k->core.inputs, "input");
  check_groups(head, head.outputs, k->core.outputs, "output");
  head.signature = head.name + "(" + shown_list(head.inputs, k->core.inputs) + ") -> (" +
                   shown_list(head.outputs, k->core.outputs) + ")";
  if (head.inputs.empty()) fail<value_error>(head.name, "there is no input; ", head.signature);
  finish_head(head, {});
  check_dimensions(head, k->core);
  check_code(name, body, "body");
  check_code(name, kw.preamble, "preamble", true);
  k->body = as_statements(text_of(name, body, "body"));
  k->preamble = std::string(kw.preamble);
  body_ = std::move(k);
}

const std::string& generalized_kernel::name() const noexcept { return body_->head.name; }
const std::string& generalized_kernel::signature() const noexcept { return body_->head.signature; }

std::vector<ndarray> generalized_kernel::run(std::span<const operand* const> arguments, std::size_t outputs,
                                             const generalized_kernel_call_kw& kw) const {
  const implementation& k = *body_;
  check_counts(k.head, arguments.size(), outputs);
  const std::vector<ndarray> out = check_outputs(k.head, kw.out);
  const letter_types letters = resolve_types(k.head, arguments, out);
  const core_extents all = match_extents(k, arguments);
  for (std::size_t a = 0; a < out.size(); ++a) {
    const dims shape = with_core(all.loop, k.core.outputs[a], all);
    core::checked_count(shape, k.head.function());
    check_output_shape(k.head, a, out[a], shape);
  }
  const runtime::device_id device = kernel_device(k.head, arguments, out);

  std::string key;
  letters.append_key(key);
  const jit::user_function* f =
      k.functions.get(key, [&] { return jit::intern(typed_function(k, arguments, letters)); });
  std::vector<graph::value> values = core_values(k, arguments, letters, all, device);
  const bool any_core = std::any_of(f->outputs.begin(), f->outputs.end(), [](const auto& p) { return p.raw; });
  if (!any_core && out.size() == 1) return {deliver(out[0], graph::record_call(f, 0, all.loop, std::move(values)))};
  if (any_core) values.push_back(positions(all.loop, device));
  return run_with_core(k, f, all, std::move(values), out, device);
}

}  // namespace sinter::inline v0
