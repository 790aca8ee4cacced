// vmap: arguments to placeholders, results of one example to those of all.
#include "sinter/vmap.hpp"

#include <string>
#include <vector>

#include "ops/vmap/example_level.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {
namespace detail {

using namespace ops;

struct vmap_call::state {
  struct argument {
    ndarray* array;
    int axis;
  };
  explicit state(std::int64_t count) : level(count) {}

  std::optional<std::int64_t> size;
  std::string where;  // the argument that has determined the size
  std::vector<argument> arguments;
  example_level level;
  struct scopes {
    explicit scopes(example_level& l) : draws(&l), calls(l), levels(l) {}
    graph::example_source::scope draws;
    interceptor_scope calls;
    level_scope levels;
  };
  std::optional<scopes> in_progress;
};

vmap_call::vmap_call(const std::optional<std::int64_t>& axis_size) : state_(std::make_unique<state>(0)) {
  if (axis_size && *axis_size < 0) fail<value_error>("vmap", "axis_size (", *axis_size, ") is negative");
  state_->size = axis_size;
  if (axis_size) state_->where = "axis_size";
}
vmap_call::~vmap_call() = default;

void vmap_call::add(ndarray& x, const std::optional<std::int64_t>& axis) {
  if (!axis) return;
  const dims shape = view_of(x, "vmap").shape;
  const int a = normalize_axis(*axis, shape, "vmap");
  const std::string where = message("axis", a, " of shape ", shape);
  if (state_->size && *state_->size != shape[a])
    fail<shape_error>("vmap", "arguments have different numbers of examples: ", *state_->size, " in ", state_->where,
                      ", ", shape[a], " in axis ", a, " of shape ", shape);
  if (!state_->size) state_->where = "axis " + std::to_string(a) + " of shape " + core::to_string(shape);
  state_->size = shape[a];
  state_->arguments.push_back({&x, a});
}

void vmap_call::begin() {
  if (!state_->size) fail<value_error>("vmap", "no argument has an axis of examples, and .axis_size is not given");
  state_->level.set_count(*state_->size);
  for (const state::argument& a : state_->arguments)
    *a.array = wrap(state_->level.enter(value_of(moveaxis(*a.array, a.axis, 0), "vmap")));
  state_->in_progress.emplace(state_->level);
}

void vmap_call::end() noexcept { state_->in_progress.reset(); }

void vmap_call::finish(ndarray& r, const std::optional<std::int64_t>& axis) {
  if (!r.defined()) return;
  const value one = value_of(r, "vmap");
  if (!axis) {
    if (state_->level.all_of(one))
      fail<value_error>("vmap", "a result of shape ", one->shape,
                        " has no axis of examples (out_axes), but it depends on the example");
    return;
  }
  const dims all = with_examples(state_->level.count(), one->shape);
  const int to = normalize_axis(*axis, all, "vmap");
  const ndarray result = wrap(state_->level.all_or_repeated(one));
  r = to == 0 ? result : moveaxis(result, 0, to);
}

void refuse_example_axes(const char* which, std::size_t given, std::size_t parts) {
  fail<value_error>("vmap", which, " has ", given, " entries for ", parts, parts == 1 ? " part" : " parts");
}

}  // namespace detail

using namespace ops;

struct example_scope::state final : graph::example_source {
  explicit state(std::int64_t k) : example(k), outer(graph::example_source::innermost()), now(this) {}

  value draw(opcode op, dtype type, const dims& shape, const graph::random_stream& stream,
             std::span<const value> parameters, runtime::device_id device) override {
    const scope outside(outer);
    const std::int64_t padded = (core::element_count(shape) + 3) / 4 * 4;
    graph::random_stream own = stream_of_examples(stream);
    own.block = static_cast<std::uint64_t>(example) * graph::blocks_of_draw(op, type, padded);
    return graph::record_draw(op, type, shape, own, parameters, device);
  }

  std::int64_t example;
  graph::example_source* outer;
  scope now;
};

example_scope::example_scope(extent k) {
  if (k.value < 0) fail<value_error>("example_scope", "example (", k.value, ") is negative");
  state_ = std::make_unique<state>(k.value);
}
example_scope::~example_scope() = default;

}  // namespace sinter::inline v0
