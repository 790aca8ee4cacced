// elementwise_kernel and function: users' elementwise code as call nodes.
#include <algorithm>

#include "core/shape.hpp"
#include "ops/kernels/call.hpp"
#include "ops/kernels/run.hpp"
#include "sinter/kernel.hpp"

namespace sinter::inline v0 {

using namespace ops;

struct elementwise_kernel::implementation {
  kernel_head head;
  std::string body, preamble, loop_prep, after_loop;
  bool uses_i = false, uses_n = false;
  bool records = false;  // calls are lazy
  bool raw_inputs = false;
  function_cache<const jit::user_function*> functions;
};

struct function::implementation {
  kernel_head head;
  std::string body, preamble;
  function_cache<const jit::user_function*> functions;
};

namespace {

/// The function for the dtypes of this call, without its outputs.
jit::user_function typed_function(const kernel_head& k, operands arguments, const letter_types& letters,
                                  const std::string& preamble, const std::string& body) {
  jit::user_function f = new_function(k.name, letters, preamble, body);
  for (std::size_t a = 0; a < arguments.size(); ++a) f.inputs.push_back(input_parameter(k, a, *arguments[a], letters));
  return f;
}

std::string call_key(const kernel_head& k, operands arguments, const letter_types& letters,
                     std::span<const ndarray> out) {
  std::string key;
  letters.append_key(key);
  const auto put_rank = [&](const ndarray& a) { key += static_cast<char>(view_of(a, k.function()).shape.size()); };
  for (std::size_t a = 0; a < arguments.size(); ++a)
    if (k.inputs[a].raw) put_rank(arguments[a]->array());
  for (std::size_t a = 0; a < out.size(); ++a)
    if (k.outputs[a].raw) put_rank(out[a]);
  return key;
}

/// The loop shape of an elementwise kernel.
dims loop_shape(const elementwise_kernel::implementation& k, operands arguments, const kernel_kw& kw,
                std::span<const ndarray> out) {
  const std::vector<const dims*> shapes = loop_shapes(k.head, arguments, out);
  if (kw.size) {
    if (!shapes.empty())
      fail<shape_error>(k.head.name, "size is for calls whose arrays are all raw; this loop has shape ",
                        broadcast_shapes(shapes, k.head.function()), " from its arrays");
    const dims shape{*kw.size};
    core::checked_count(shape, k.head.function());
    return shape;
  }
  if (shapes.empty() && (k.raw_inputs || arguments.empty()))
    fail<shape_error>(k.head.name, "the loop's length is not known, since all arrays are raw: give {.size = n}; ",
                      k.head.signature);
  return broadcast_shapes(shapes, k.head.function());
}

}  // namespace

elementwise_kernel::elementwise_kernel(std::string_view inputs, std::string_view outputs, std::string_view body,
                                       std::string_view name, const elementwise_kernel_kw& kw) {
  auto k = std::make_shared<implementation>();
  k->head = make_head(name, inputs, outputs, {"i", "n"});
  check_code(name, body, "body");
  check_code(name, kw.preamble, "preamble", true);
  check_code(name, kw.loop_prep, "loop_prep", true);
  check_code(name, kw.after_loop, "after_loop", true);
  k->uses_i = mentions(text_of(name, body, "body"), "i");
  // A call node needs at least one operand, which determines its device.
  k->uses_n = k->head.inputs.empty() || mentions(text_of(name, body, "body"), "n") ||
              mentions(text_of(name, kw.loop_prep, "loop_prep"), "n") ||
              mentions(text_of(name, kw.after_loop, "after_loop"), "n");
  k->body = as_statements(text_of(name, body, "body"));
  k->preamble = std::string(kw.preamble);
  k->loop_prep = as_statements(text_of(name, kw.loop_prep, "loop_prep"));
  k->after_loop = as_statements(text_of(name, kw.after_loop, "after_loop"));
  const auto is_raw = [](const parameter& p) { return p.raw; };
  k->raw_inputs = std::any_of(k->head.inputs.begin(), k->head.inputs.end(), is_raw);
  k->records = k->head.outputs.size() == 1 && !k->head.outputs[0].raw && k->loop_prep.empty() && k->after_loop.empty();
  body_ = std::move(k);
}

const std::string& elementwise_kernel::name() const noexcept { return body_->head.name; }
const std::string& elementwise_kernel::signature() const noexcept { return body_->head.signature; }

std::vector<ndarray> elementwise_kernel::run(std::span<const operand* const> arguments, std::size_t outputs,
                                             const kernel_kw& kw) const {
  const implementation& k = *body_;
  check_counts(k.head, arguments.size(), outputs);
  const std::vector<ndarray> out = check_outputs(k.head, kw.out);
  const letter_types letters = resolve_types(k.head, arguments, out);
  const dims shape = loop_shape(k, arguments, kw, out);
  const runtime::device_id device = kernel_device(k.head, arguments, out);
  for (std::size_t a = 0; a < out.size(); ++a)
    if (!k.head.outputs[a].raw) check_output_shape(k.head, a, out[a], shape);

  const jit::user_function* f = k.functions.get(call_key(k.head, arguments, letters, out), [&] {
    jit::user_function text = typed_function(k.head, arguments, letters, k.preamble, k.body);
    for (std::size_t a = 0; a < out.size(); ++a)
      text.outputs.push_back(generated_parameter(k.head, k.head.outputs[a], out[a], letters));
    if (k.uses_i) text.inputs.push_back({.name = "i", .type = dtype::i64, .opaque = {}});
    if (k.uses_n) text.inputs.push_back({.name = "n", .type = dtype::i64, .opaque = {}});
    text.loop_prep = k.loop_prep;
    text.after_loop = k.after_loop;
    return jit::intern(std::move(text));
  });

  std::vector<graph::value> values = argument_values(k.head, arguments, letters, device);
  if (k.uses_i) values.push_back(positions(shape, device));
  if (k.uses_n) values.push_back(integer_value(core::element_count(shape), device));
  if (k.records) return {deliver(out[0], graph::record_call(f, 0, shape, std::move(values)))};
  return run_now(k.head, f, shape, std::move(values), out, device);
}

function::function(std::string_view declaration, std::string_view body, const function_kw& kw) {
  ops::declaration d = parse_declaration({declaration, "[function] declaration"});
  auto k = std::make_shared<implementation>();
  k->head.name = d.name;
  k->head.inputs = std::move(d.parameters);
  // The result has a name that the body cannot use; it only has to differ from the parameters' names.
  k->head.outputs.push_back({"sn_result", d.result, false});
  k->head.signature = d.name + "(" + shown_list(k->head.inputs) + ") -> " + to_string(d.result);
  if (k->head.inputs.empty()) fail<value_error>(k->head.name, "there is no parameter; ", k->head.signature);
  finish_head(k->head, {});
  check_code(d.name, body, "body");
  check_code(d.name, kw.preamble, "preamble", true);
  const kernel_text text = text_of(d.name, body, "body");
  if (!has_word(text, "return") && !has_word(text, "#")) throw value_error(text.where + " returns nothing");
  k->body = as_statements(text);
  k->preamble = std::string(kw.preamble);
  body_ = std::move(k);
}

const std::string& function::name() const noexcept { return body_->head.name; }
const std::string& function::signature() const noexcept { return body_->head.signature; }

ndarray function::run(std::span<const operand* const> arguments) const {
  const implementation& k = *body_;
  check_counts(k.head, arguments.size(), 1);
  const letter_types letters = resolve_types(k.head, arguments, {});
  const dims shape = broadcast_shapes(loop_shapes(k.head, arguments, {}), k.head.function());
  const runtime::device_id device = kernel_device(k.head, arguments, {});
  const jit::user_function* f = k.functions.get(call_key(k.head, arguments, letters, {}), [&] {
    jit::user_function text = typed_function(k.head, arguments, letters, k.preamble, k.body);
    text.outputs.push_back(generated_parameter(k.head, k.head.outputs[0], ndarray(), letters));
    text.returns = true;
    return jit::intern(std::move(text));
  });
  return wrap(graph::record_call(f, 0, shape, argument_values(k.head, arguments, letters, device)));
}

}  // namespace sinter::inline v0
