// Arguments and results of users' kernels.
#include "ops/kernels/call.hpp"

#include <algorithm>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/kernel.hpp"

namespace sinter::ops {
namespace {

bool same_storage(const ndarray& a, const ndarray& b) {
  return ndarray_access::ref(a)->store == ndarray_access::ref(b)->store;
}

scalar_kind kind_of(dtype t) {
  if (is_bool(t)) return scalar_kind::boolean;
  if (is_integer(t)) return scalar_kind::integer;
  return is_complex(t) ? scalar_kind::complex : scalar_kind::floating;
}

const char* word_for(scalar_kind kind) {
  constexpr const char* words[] = {"a bool", "an integer", "a floating-point number", "a complex number"};
  return words[static_cast<int>(kind)];
}

/// A parameter's dtype as shown in messages: "int32", "int32 (T)".
std::string shown_type(const parameter& p, dtype type) {
  return std::string(name(type)) + (p.type.letter ? " (" + std::string(1, p.type.letter) + ")" : "");
}

/// Resolves type letters by the dtypes of arrays and remembers, for messages, which array determined each.
class type_resolver {
 public:
  type_resolver(const kernel_head& k, letter_types& letters) : k_(k), letters_(letters) {}

  void array(const parameter& p, dtype type) {
    if (!p.type.letter) {
      if (type != p.type.type)
        fail<dtype_error>(k_.name, p.name, " is ", type, ", but its type is ", p.type.type, "; ", k_.signature);
      return;
    }
    std::optional<dtype>& known = letters_[p.type.letter];
    const parameter*& from = from_[static_cast<std::size_t>(p.type.letter - 'A')];
    if (known && *known != type)
      fail<dtype_error>(k_.name, "type ", p.type.letter, " is ", *known, " in ", from->name, ", but ", type, " in ",
                        p.name, "; ", k_.signature);
    known = type;
    from = &p;
  }

 private:
  const kernel_head& k_;
  letter_types& letters_;
  std::array<const parameter*, 26> from_{};
};

/// Resolves letters that no array determines to the promoted dtype of their numbers.
void resolve_by_numbers(const kernel_head& k, operands arguments, letter_types& letters) {
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    if (letters[letter]) continue;
    std::vector<const operand*> numbers;
    for (std::size_t a = 0; a < arguments.size(); ++a)
      if (k.inputs[a].type.letter == letter) numbers.push_back(arguments[a]);
    if (!numbers.empty()) letters[letter] = result_type_of(numbers, k.function());
  }
}

/// Throws unless the output array is writable; returns its view.
void check_writable(const kernel_head& k, const parameter& p, const ndarray& out) {
  const graph::array_view& v = view_of(out, k.function());
  if (v.readonly) fail<value_error>(k.name, "output ", p.name, " of shape ", v.shape, " is read-only");
  if (!v.whole && core::may_self_overlap(v.shape, v.strides))
    fail<value_error>(k.name, "elements of output ", p.name, " of shape ", v.shape, " share memory (a broadcast view)");
}

void check_letters(const kernel_head& k) {
  for (const parameter& p : k.outputs) {
    const auto resolves = [&](const parameter& q) { return q.type.letter == p.type.letter; };
    if (!p.type.letter || p.raw || std::any_of(k.inputs.begin(), k.inputs.end(), resolves)) continue;
    if (std::any_of(k.outputs.begin(), k.outputs.end(), [&](const parameter& q) { return q.raw && resolves(q); }))
      continue;
    fail<value_error>(k.name, "nothing determines type ", p.type.letter, " of output ", p.name, ": no input has it; ",
                      k.signature);
  }
}

}  // namespace

std::string shown_list(const std::vector<parameter>& parameters) {
  std::string text;
  for (const parameter& p : parameters) text += (text.empty() ? "" : ", ") + to_string(p);
  return text;
}

void finish_head(kernel_head& k, std::initializer_list<std::string_view> reserved) {
  if (k.signature.empty()) k.signature = k.name + "(" + shown_list(k.inputs) + ") -> (" + shown_list(k.outputs) + ")";
  if (k.outputs.empty()) fail<value_error>(k.name, "there is no output; ", k.signature);
  if (k.inputs.size() > static_cast<std::size_t>(max_kernel_arguments))
    fail<value_error>(k.name, k.inputs.size(), " inputs; a kernel takes at most ", max_kernel_arguments);
  std::vector<const parameter*> all;
  for (const parameter& p : k.inputs) all.push_back(&p);
  for (const parameter& p : k.outputs) all.push_back(&p);
  for (std::size_t a = 0; a < all.size(); ++a) {
    const std::string& name = all[a]->name;
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (b < a && all[b]->name == name) fail<value_error>(k.name, "'", name, "' is an input and an output");
      if (name.size() == 1 && all[b]->type.letter == name[0])
        fail<value_error>(k.name, "'", name, "' names a parameter and a type");
    }
    if (std::find(reserved.begin(), reserved.end(), name) != reserved.end())
      fail<value_error>(k.name, "a parameter cannot be named '", name, "', which has a meaning of its own");
  }
  check_letters(k);
}

kernel_head make_head(std::string_view name, std::string_view inputs, std::string_view outputs,
                      std::initializer_list<std::string_view> reserved) {
  check_identifier(text_of("kernel", name, "name"));
  kernel_head k;
  k.name = std::string(name);
  k.inputs = parse_parameters(text_of(name, inputs, "input parameters"));
  k.outputs = parse_parameters(text_of(name, outputs, "output parameters"));
  finish_head(k, reserved);
  return k;
}

void check_code(std::string_view name, std::string_view text, const char* what, bool may_be_empty) {
  const kernel_text t = text_of(name, text, what);
  check_brackets(t);
  if (!may_be_empty && tokenize(t).size() == 1) throw value_error(t.where + " is empty");
}

void check_counts(const kernel_head& k, std::size_t arguments, std::size_t outputs) {
  const auto number = [](std::size_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  if (arguments != k.inputs.size())
    fail<value_error>(k.name, "takes ", number(k.inputs.size(), "argument"), ", not ", arguments, ": ", k.signature);
  if (outputs != 0 && outputs != k.outputs.size())
    fail<value_error>(k.name, "has ", number(k.outputs.size(), "output"), ", not ", outputs, ": ", k.signature);
}

std::vector<ndarray> check_outputs(const kernel_head& k, const std::vector<ndarray>& out) {
  if (!out.empty() && out.size() != k.outputs.size())
    fail<value_error>(k.name, ".out holds ", out.size(), " arrays for ", k.outputs.size(), " outputs: ", k.signature);
  std::vector<ndarray> all = out;
  all.resize(k.outputs.size());
  for (std::size_t a = 0; a < all.size(); ++a) {
    const parameter& p = k.outputs[a];
    if (all[a].defined()) check_writable(k, p, all[a]);
    else if (p.raw) fail<value_error>(k.name, "output ", p.name, " is raw: give its array with .out; ", k.signature);
    for (std::size_t b = 0; b < a; ++b)
      if ((p.raw || k.outputs[b].raw) && all[a].defined() && all[b].defined() && same_storage(all[a], all[b]))
        fail<value_error>(k.name, "outputs ", k.outputs[b].name, " and ", p.name, " share memory");
  }
  return all;
}

std::string letter_types::typedefs() const {
  std::string text;
  for (std::size_t k = 0; k < types_.size(); ++k)
    if (types_[k]) text += std::string("typedef ") + cpp_type(*types_[k]) + " " + static_cast<char>('A' + k) + ";\n";
  return text;
}

void letter_types::append_key(std::string& key) const {
  for (const auto& t : types_)
    if (t) key += static_cast<char>(static_cast<int>(*t) + 1);
}

letter_types resolve_types(const kernel_head& k, operands arguments, std::span<const ndarray> out) {
  letter_types letters;
  type_resolver resolver(k, letters);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const operand& x = *arguments[a];
    if (x.is_array()) resolver.array(k.inputs[a], view_of(x.array(), k.function()).type);
    else if (k.inputs[a].raw)
      fail<value_error>(k.name, k.inputs[a].name, " is raw: it takes an array, not a number; ", k.signature);
  }
  for (std::size_t a = 0; a < out.size(); ++a)
    if (out[a].defined()) resolver.array(k.outputs[a], out[a].dtype());
  resolve_by_numbers(k, arguments, letters);
  return letters;
}

std::vector<const dims*> loop_shapes(const kernel_head& k, operands arguments, std::span<const ndarray> out) {
  std::vector<const dims*> shapes;
  for (std::size_t a = 0; a < arguments.size(); ++a)
    if (arguments[a]->is_array() && !k.inputs[a].raw)
      shapes.push_back(&view_of(arguments[a]->array(), k.function()).shape);
  for (std::size_t a = 0; a < out.size(); ++a)
    if (out[a].defined() && !k.outputs[a].raw) shapes.push_back(&view_of(out[a], k.function()).shape);
  return shapes;
}

runtime::device_id kernel_device(const kernel_head& k, operands arguments, std::span<const ndarray> out) {
  std::vector<operand> given;
  for (const ndarray& a : out)
    if (a.defined()) given.emplace_back(a);
  std::vector<const operand*> all(arguments.begin(), arguments.end());
  for (const operand& o : given) all.push_back(&o);
  return common_device(all, k.function());
}

const char* cpp_type(dtype t) noexcept {
  constexpr const char* names[dtype_count] = {
      "bool",      "signed char",        "short", "int",   "long long", "unsigned char", "unsigned short",
      "unsigned",  "unsigned long long", "float", "float", "float",     "double",        "complex64",
      "complex128"};
  return names[static_cast<int>(t)];
}

graph::value argument_value(const kernel_head& k, std::size_t index, const operand& x, const letter_types& letters,
                            runtime::device_id device) {
  if (x.is_array()) return value_of(x.array(), k.function());
  const parameter& p = k.inputs[index];
  const dtype type = letters.of(p.type);
  if (x.number().kind() > kind_of(type))
    fail<dtype_error>(k.name, p.name, " is ", word_for(x.number().kind()), ", but its type is ", shown_type(p, type),
                      "; ", k.signature);
  return graph::record_scalar(scalar_of(x.number(), type, k.function()), type, dims(), device);
}

std::vector<graph::value> argument_values(const kernel_head& k, operands arguments, const letter_types& letters,
                                          runtime::device_id device) {
  std::vector<graph::value> values;
  for (std::size_t a = 0; a < arguments.size(); ++a)
    values.push_back(argument_value(k, a, *arguments[a], letters, device));
  return values;
}

jit::user_parameter generated_parameter(const kernel_head& k, const parameter& p, const ndarray& raw,
                                        const letter_types& letters) {
  const int rank = p.raw ? view_of(raw, k.function()).shape.size() : 0;
  return {
      .name = p.name, .type = letters.of(p.type), .raw = p.raw, .rank = static_cast<std::uint8_t>(rank), .opaque = {}};
}

jit::user_parameter input_parameter(const kernel_head& k, std::size_t index, const operand& x,
                                    const letter_types& letters) {
  const parameter& p = k.inputs[index];
  return generated_parameter(k, p, p.raw ? x.array() : ndarray(), letters);
}

graph::value positions(const dims& shape, runtime::device_id device) {
  return reshape_value(graph::record_iota(dims{core::element_count(shape)}, 0, device), shape);
}

graph::value integer_value(std::int64_t v, runtime::device_id device) {
  return graph::record_scalar(scalar_of(v, dtype::i64, "integer_value"), dtype::i64, dims(), device);
}

graph::view_ref uninitialised(const dims& shape, dtype type, runtime::device_id device, const char* function) {
  core::checked_count(shape, function);
  return graph::make_array(graph::unset_leaf(shape, type, device));
}

ndarray deliver(const ndarray& out, graph::value v) {
  if (!out.defined()) return wrap(std::move(v));
  graph::write(*ndarray_access::ref(out), std::move(v));
  return out;
}

void check_output_shape(const kernel_head& k, std::size_t output, const ndarray& out, const dims& shape) {
  if (!out.defined()) return;
  const dims& given = view_of(out, k.function()).shape;
  if (!(given == shape))
    fail<shape_error>(k.name, "output ", k.outputs[output].name, " has shape ", given, ", but the result has shape ",
                      shape);
}

}  // namespace sinter::ops
