// reduction_kernel: a mapping call, a reduction with the user's monoid, and a post-processing call.
#include <algorithm>
#include <limits>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/axis_set.hpp"
#include "ops/kernels/call.hpp"
#include "ops/kernels/run.hpp"
#include "sinter/reduce.hpp"
#include "sinter/reduction_kernel.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The three functions for the dtypes of one call.
struct typed_reduction {
  const jit::user_function* map = nullptr;
  const jit::user_reduction* combine = nullptr;
  const jit::user_function* post = nullptr;
  std::vector<std::size_t> post_inputs;  // which arguments follow `a`
};

}  // namespace

struct reduction_kernel::implementation {
  kernel_head head;
  std::string map, combine, post, identity, preamble;
  std::optional<written_type> reduce_type;
  std::string opaque;         // the struct type of the accumulator, else empty
  bool default_type = false;  // the accumulator has the first output's dtype
  bool map_uses_i = false, map_uses_n = false, post_uses_n = false;
  std::vector<std::size_t> post_may_use;  // inputs that post mentions
  function_cache<typed_reduction> functions;
};

namespace {

using implementation = reduction_kernel::implementation;

void resolve_reduce_type(implementation& k, std::string_view text, const kernel_text& preamble) {
  const kernel_head& head = k.head;
  const kernel_text t = text_of(head.name, text, "reduce_type");
  if (text.empty()) {
    k.reduce_type = head.outputs[0].type;
    return;
  }
  k.reduce_type = parse_type(t);
  if (!k.reduce_type) {
    check_identifier(t);
    if (!has_word(preamble, text) && !has_word(preamble, "#"))
      throw value_error(t.where + ": '" + std::string(text) + "' is no type, and the preamble does not declare it");
    k.opaque = std::string(text);
    return;
  }
  const char letter = k.reduce_type->letter;
  const auto has = [&](const parameter& p) { return p.type.letter == letter; };
  if (letter && std::none_of(head.inputs.begin(), head.inputs.end(), has))
    throw value_error(t.where + ": no input determines type " + std::string(1, letter) + "; " + head.signature);
}

/// The accumulator as a parameter.
jit::user_parameter accumulated(const implementation& k, const letter_types& letters) {
  if (!k.opaque.empty()) return {.name = "a", .type = dtype::u8, .opaque = k.opaque};
  dtype type = letters.of(*k.reduce_type);
  if (k.default_type && (type == dtype::f16 || type == dtype::bf16)) type = dtype::f32;
  return {.name = "a", .type = type, .opaque = {}};
}

jit::user_parameter number_parameter(const char* name) { return {.name = name, .type = dtype::i64, .opaque = {}}; }

bool available_after(const kernel_head& k, std::size_t input, operands arguments) {
  return k.inputs[input].raw || !arguments[input]->is_array();
}

typed_reduction typed_functions(const implementation& k, operands arguments, const letter_types& letters) {
  const jit::user_parameter a = accumulated(k, letters);
  typed_reduction r;

  jit::user_function map = new_function(k.head.name + "_map", letters, k.preamble, k.map);
  map.returns = true;
  for (std::size_t n = 0; n < arguments.size(); ++n)
    map.inputs.push_back(input_parameter(k.head, n, *arguments[n], letters));
  if (k.map_uses_i) map.inputs.push_back(number_parameter("i"));
  if (k.map_uses_n) map.inputs.push_back(number_parameter("n"));
  map.outputs.push_back(a);
  r.map = jit::intern(std::move(map));

  jit::user_reduction combine;
  combine.name = k.head.name;
  combine.types = letters.typedefs();
  combine.preamble = k.preamble;
  combine.value = a;
  combine.combine = k.combine;
  combine.identity = k.identity;
  r.combine = jit::intern(std::move(combine));

  jit::user_function post = new_function(k.head.name + "_post", letters, k.preamble, k.post);
  post.inputs.push_back(a);
  for (const std::size_t n : k.post_may_use) {
    if (!available_after(k.head, n, arguments)) continue;
    r.post_inputs.push_back(n);
    post.inputs.push_back(input_parameter(k.head, n, *arguments[n], letters));
  }
  if (k.post_uses_n) post.inputs.push_back(number_parameter("n"));
  for (std::size_t n = 0; n < k.head.outputs.size(); ++n)
    post.outputs.push_back(generated_parameter(k.head, k.head.outputs[n], ndarray(), letters));
  r.post = jit::intern(std::move(post));
  return r;
}

std::string call_key(const kernel_head& k, operands arguments, const letter_types& letters) {
  std::string key;
  letters.append_key(key);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const bool is_array = arguments[a]->is_array();
    key += is_array ? 'a' : 'n';
    if (k.inputs[a].raw) key += static_cast<char>(view_of(arguments[a]->array(), k.function()).shape.size());
  }
  return key;
}

/// Axes given after the inputs, as axes or as a number.
axes trailing_axes(const kernel_head& k, const reduction_argument& last) {
  if (last.given_axes()) return *last.given_axes();
  const operand& x = last.value();
  if (x.is_array() || x.number().kind() != scalar_kind::integer)
    fail<value_error>(k.name, "takes its inputs, then an axis (an integer or axes{...}): ", k.signature);
  const scalar& axis = x.number();
  return axes(axis.fits_int64() ? axis.as_int64() : std::numeric_limits<std::int64_t>::max());
}

/// The kernel's arguments, and the axes.
struct reduction_call {
  std::vector<const operand*> inputs;
  axes axis;
};
reduction_call split_arguments(const kernel_head& k, std::span<const reduction_argument* const> arguments,
                               const axes& keyword) {
  reduction_call c;
  c.axis = keyword;
  const std::size_t inputs = std::min(arguments.size(), k.inputs.size());
  for (std::size_t a = 0; a < inputs; ++a)
    if (arguments[a]->given_axes())
      fail<value_error>(k.name, "argument ", a + 1,
                        " is an axes object, but axes come after the inputs: ", k.signature);
  const bool trailing = arguments.size() == k.inputs.size() + 1;
  if (trailing) {
    if (keyword.given()) detail::axis_twice(k.function());
    c.axis = trailing_axes(k, *arguments.back());
  }
  for (const reduction_argument* a : trailing ? arguments.first(inputs) : arguments) c.inputs.push_back(&a->value());
  return c;
}

/// The shape that the inputs broadcast to.
dims reduced_shape(const kernel_head& k, operands inputs) {
  const std::vector<const dims*> shapes = loop_shapes(k, inputs, {});
  const bool any_raw = std::any_of(k.inputs.begin(), k.inputs.end(), [](const parameter& p) { return p.raw; });
  if (shapes.empty() && (any_raw || inputs.empty()))
    fail<shape_error>(k.name, "what is reduced is not known, since all arrays are raw; ", k.signature);
  return broadcast_shapes(shapes, k.function());
}

dims result_shape(const axis_set& s, const dims& shape, bool keepdims) {
  if (keepdims) return s.kept_shape;
  dims kept;
  for (int a = 0; a < shape.size(); ++a)
    if (!s.reduced[static_cast<std::size_t>(a)]) kept.push_back(shape[a]);
  return kept;
}

/// Reduces the mapped inputs. If the user reduces no axis, the reduction runs over an axis of extent 1, so that the
/// accumulator may be a struct in this case too.
graph::value reduce_mapped(const implementation& k, const typed_reduction& f, std::vector<graph::value> values,
                           dims shape, const axis_set& s, runtime::device_id device) {
  std::array<bool, core::max_rank> reduced = s.reduced;
  if (s.count == 0) {
    if (shape.size() == core::max_rank) fail<shape_error>(k.head.name, "an array of rank 64 needs an axis to reduce");
    for (std::size_t a = 0; a < values.size(); ++a) {
      if (k.head.inputs[a].raw) continue;
      dims longer = values[a]->shape;
      longer.push_back(1);
      values[a] = reshape_value(values[a], longer);
    }
    reduced[static_cast<std::size_t>(shape.size())] = true;
    shape.push_back(1);
  }
  if (k.map_uses_i) values.push_back(positions(shape, device));
  if (k.map_uses_n) values.push_back(integer_value(s.elements, device));
  const graph::value mapped = graph::record_call(f.map, 0, shape, std::move(values));
  return graph::record_reduce(f.combine, mapped, std::span(reduced.data(), static_cast<std::size_t>(shape.size())));
}

}  // namespace

reduction_kernel::reduction_kernel(std::string_view inputs, std::string_view outputs, std::string_view map,
                                   std::string_view reduce, std::string_view post, std::string_view identity,
                                   std::string_view name, const reduction_kernel_kw& kw) {
  auto k = std::make_shared<implementation>();
  k->head = make_head(name, inputs, outputs, {"i", "n", "a", "b"});
  for (const parameter& p : k->head.outputs)
    if (p.raw) fail<value_error>(k->head.name, "output ", p.name, " of a reduction cannot be raw");
  check_code(name, map, "map");
  check_code(name, reduce, "reduce");
  check_code(name, post, "post");
  check_code(name, identity, "identity");
  check_code(name, kw.preamble, "preamble", true);
  resolve_reduce_type(*k, kw.reduce_type, text_of(name, kw.preamble, "preamble"));
  k->map_uses_i = mentions(text_of(name, map, "map"), "i");
  k->map_uses_n = mentions(text_of(name, map, "map"), "n");
  const kernel_text post_text = text_of(name, post, "post");
  k->post_uses_n = mentions(post_text, "n");
  for (std::size_t a = 0; a < k->head.inputs.size(); ++a)
    if (mentions(post_text, k->head.inputs[a].name)) k->post_may_use.push_back(a);
  k->map = "return " + as_statements(text_of(name, map, "map"));
  k->combine = std::string(reduce);
  k->post = as_statements(post_text);
  k->identity = std::string(identity);
  k->preamble = std::string(kw.preamble);
  k->default_type = kw.reduce_type.empty();
  body_ = std::move(k);
}

const std::string& reduction_kernel::name() const noexcept { return body_->head.name; }
const std::string& reduction_kernel::signature() const noexcept { return body_->head.signature; }

std::vector<ndarray> reduction_kernel::run(std::span<const reduction_argument* const> arguments, std::size_t outputs,
                                           const reduction_kernel_call_kw& kw) const {
  const implementation& k = *body_;
  const reduction_call call = split_arguments(k.head, arguments, kw.axis);
  check_counts(k.head, call.inputs.size(), outputs);
  const std::vector<ndarray> out = check_outputs(k.head, kw.out);
  const letter_types letters = resolve_types(k.head, call.inputs, out);
  const dims shape = reduced_shape(k.head, call.inputs);
  const runtime::device_id device = kernel_device(k.head, call.inputs, out);
  const axis_set s = find_axes(call.axis, shape, k.head.function());
  for (std::size_t a = 0; a < out.size(); ++a)
    check_output_shape(k.head, a, out[a], result_shape(s, shape, kw.keepdims));

  const typed_reduction& f =
      k.functions.get(call_key(k.head, call.inputs, letters), [&] { return typed_functions(k, call.inputs, letters); });
  std::vector<graph::value> values = argument_values(k.head, call.inputs, letters, device);
  std::vector<graph::value> after{graph::value()};
  for (const std::size_t a : f.post_inputs) after.push_back(values[a]);
  if (k.post_uses_n) after.push_back(integer_value(s.elements, device));
  after[0] = reduce_mapped(k, f, std::move(values), shape, s, device);

  std::vector<graph::value> results;
  for (std::size_t a = 0; a < out.size(); ++a)
    results.push_back(
        restore_axes(graph::record_call(f.post, static_cast<int>(a), after[0]->shape, after), s, kw.keepdims));
  std::vector<ndarray> arrays;
  for (std::size_t a = 0; a < out.size(); ++a) arrays.push_back(deliver(out[a], std::move(results[a])));
  if (arrays.size() > 1) {
    std::vector<graph::view_ref> views;
    for (const ndarray& array : arrays) views.push_back(ndarray_access::ref(array));
    graph::evaluate(views);
  }
  return arrays;
}

}  // namespace sinter::inline v0
