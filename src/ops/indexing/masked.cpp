// Expressions of elements that one mask selects: recorded for the whole arrays, applied to the selected elements only if
// these are read.
#include "ops/indexing/masked.hpp"

#include <algorithm>
#include <bit>

#include "core/shape.hpp"
#include "graph/run/flush.hpp"
#include "ops/base/axes.hpp"

namespace sinter::ops {
namespace {

using graph::node;
using graph::node_kind;

/// The most that operations may weigh (jit/program/opcodes.def) to be computed for elements that the mask leaves out:
/// selecting and scattering cost about as much.
constexpr int most_weight = 32;
constexpr int most_compared = 64;  // nodes

bool is_same_constant(const jit::scalar& a, const jit::scalar& b) noexcept {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return a.type == b.type && bits(a.f[0]) == bits(b.f[0]) && bits(a.f[1]) == bits(b.f[1]);
}

bool is_same_operation(node& a, node& b) noexcept {
  switch (a.kind) {
    case node_kind::scalar: return !a.scalar().unset && is_same_constant(a.scalar().constant, b.scalar().constant);
    case node_kind::iota: return a.iota().axis == b.iota().axis;
    case node_kind::map: return a.map().op == b.map().op && a.map().fast_math == b.map().fast_math;
    case node_kind::view: return a.view().offset == b.view().offset && a.view().strides == b.view().strides;
    default: return false;
  }
}

/// Under the flush mutex. `left`: how many nodes may still be compared.
bool is_same_node(node& a, node& b, int& left) noexcept {
  if (&a == &b) return true;
  if (--left < 0 || a.kind != b.kind || a.type != b.type || !(a.shape == b.shape) || !(a.device == b.device))
    return false;
  if (!is_same_operation(a, b) || a.nargs != b.nargs) return false;
  for (int k = 0; k < a.nargs; ++k)
    if (!is_same_node(*a.args[k], *b.args[k], left)) return false;
  return true;
}

/// The axes behind the selected ones.
int axes_behind(const advanced_index& p) noexcept {
  return p.base->shape.size() - p.entries[0].axis - p.entries[0].axes;
}

bool is_by_one_mask(const advanced_index& p) noexcept {
  return p.entries.size() == 1 && p.entries[0].mask && p.entries[0].axes > 0 && p.selected_at == p.entries[0].axis;
}

using known_argument = std::variant<value, scalar>;

value applied(const elementwise_function& f, const std::vector<known_argument>& arguments) {
  std::vector<ndarray> arrays;
  arrays.reserve(arguments.size());  // operands refer to them
  std::vector<operand> all;
  for (const known_argument& a : arguments) {
    if (const auto* v = std::get_if<value>(&a)) all.emplace_back(arrays.emplace_back(wrap(*v)));
    else all.emplace_back(std::get<scalar>(a));
  }
  return value_of(f(all.data()));
}

/// A scope with another state of fast math.
class fast_math_scope {
 public:
  explicit fast_math_scope(bool on) : before_(graph::fast_math()) { graph::set_fast_math(on); }
  ~fast_math_scope() { graph::set_fast_math(before_); }
  fast_math_scope(const fast_math_scope&) = delete;
  fast_math_scope& operator=(const fast_math_scope&) = delete;

 private:
  bool before_;
};

}  // namespace

bool is_same_value(const value& a, const value& b) {
  if (a == b) return true;
  if (a->is_leaf() || b->is_leaf()) return false;
  const std::lock_guard lock(graph::flush_mutex());
  int left = most_compared;
  return is_same_node(*a, *b, left);
}

masked_elements::masked_elements(const masked_elements& like, value whole, int weight, elementwise_function f,
                                 std::vector<argument> arguments)
    : what_{like.what_.base, std::move(whole), like.what_.entries, like.what_.selected_at},
      weight_(weight),
      fast_math_(graph::fast_math()),
      apply_(std::move(f)),
      arguments_(std::move(arguments)) {}

value masked_elements::whole() {
  const std::lock_guard lock(mutex_);
  return what_.source;
}

bool masked_elements::corresponds_to(const masked_elements& o) const {
  return shape_ == o.shape_ && mask().axis == o.mask().axis && is_same_value(mask().values, o.mask().values);
}

value masked_elements::whole_for(const advanced_index& p) {
  if (!is_by_one_mask(p) || weight_ > most_weight || axes_behind(p) != axes_behind(what_)) return {};
  if (!core::broadcasts_to(shape_, p.base->shape) || !is_same_value(mask().values, p.entries[0].values)) return {};
  return whole();
}

bool masked_elements::begin_reduction() {
  const std::lock_guard lock(mutex_);
  if (is_reduced_ || mask().axes != shape_.size()) return false;
  return is_reduced_ = true;
}

value masked_elements::compacted() {
  const std::lock_guard lock(mutex_);
  if (result_) return result_;
  if (apply_) {
    std::vector<known_argument> known;
    for (const argument& a : arguments_) {
      if (const auto* selected = std::get_if<std::shared_ptr<masked_elements>>(&a))
        known.emplace_back((*selected)->compacted());
      else if (const auto* v = std::get_if<value>(&a)) known.emplace_back(*v);
      else known.emplace_back(std::get<scalar>(a));
    }
    const fast_math_scope scope(fast_math_);
    result_ = applied(apply_, known);
  } else {
    result_ = read_selection(what_);
  }
  // What they refer to need not stay in memory.
  what_.source = value();
  apply_ = {};
  arguments_.clear();
  return result_;
}

std::shared_ptr<masked_elements> masked_elements_of(const ndarray& a) {
  const graph::view_ref& v = ndarray_access::unresolved(a);
  if (!v || !v->deferred.load(std::memory_order_acquire)) return {};
  auto& selection = const_cast<selection_view&>(static_cast<const selection_view&>(*v));
  if (selection.capture != runtime::this_thread().capture) return {};
  const std::lock_guard lock(selection.once);
  const bool unread = selection.deferred.load(std::memory_order_relaxed) && selection.what.source;
  if (unread && !selection.elements && is_by_one_mask(selection.what))
    selection.elements = std::make_shared<masked_elements>(selection.what);
  return selection.elements;
}

std::optional<masked_whole> masked_to_reduce(const ndarray& x, const std::function<bool(dtype)>& takes) {
  if (!is_unread(x)) return {};
  const auto selected = masked_elements_of(x);
  const value whole = selected ? selected->whole() : value();
  if (!whole || !takes(whole->type) || !selected->begin_reduction()) return {};
  const dims flat{whole->size()};
  return masked_whole{reshape_value(selected->mask().values, flat), reshape_value(whole, flat)};
}

std::optional<ndarray> record_over_selections(std::span<const operand> x, int weight, elementwise_function f) {
  if (graph::is_capturing()) return {};
  std::shared_ptr<masked_elements> first;
  std::vector<masked_elements::argument> arguments;
  std::vector<known_argument> whole;
  weight = std::max(weight, 1);  // bounds the depth, too
  for (const operand& o : x) {
    if (!o.is_array()) {
      arguments.emplace_back(o.number());
      whole.emplace_back(o.number());
    } else if (auto selected = masked_elements_of(o.array())) {
      if (!first) first = selected;
      value all = selected->whole();
      if (!all || !selected->corresponds_to(*first)) return {};
      weight += selected->weight();
      arguments.emplace_back(std::move(selected));
      whole.emplace_back(std::move(all));
    } else {
      if (is_unread(o) || !ndarray_access::unresolved(o.array()) || !view_of(o.array(), "").shape.empty()) return {};
      arguments.emplace_back(value_of(o.array()));
      whole.emplace_back(std::get<value>(arguments.back()));
    }
  }
  if (!first || weight > most_weight) return {};
  value all = applied(f, whole);
  auto view = std::make_shared<selection_view>();
  view->elements =
      std::make_shared<masked_elements>(*first, std::move(all), weight, std::move(f), std::move(arguments));
  view->deferred.store(true, std::memory_order_relaxed);
  return ndarray_access::make(std::move(view));
}

}  // namespace sinter::ops
