#include "ops/loops/step_signature.hpp"

#include <utility>

#include "ops/base/opaque_call.hpp"

namespace sinter::ops {

using graph::node;
using graph::node_kind;

namespace {

/// What a value in the text is: these begin what says more.
enum class place : std::int64_t { nothing = -1, constant = -2, read = -3, number = -4 };

bool is_number(const value& v) noexcept { return v->kind.load(std::memory_order_acquire) == node_kind::scalar; }

}  // namespace

void add_number(std::string& to, const value& v) {
  step_signature::add(to, is_number(v) ? 1 : 0);
  if (!is_number(v)) return;
  const jit::scalar& s = v->scalar().constant;
  step_signature::add(to, static_cast<std::int64_t>(s.type));
  // A complex number has two parts; of others the second one is not set.
  to.append(reinterpret_cast<const char*>(s.f), is_complex(s.type) ? sizeof s.f : is_bool(s.type) ? 1 : sizeof s.f[0]);
}

step_signature::step_signature(const step_record& step, const std::vector<bool>& needed,
                               std::span<const value> constants) {
  std::int64_t next = 0;
  for (const value& v : step.list->inputs()) known_[v.get()] = next++;
  for (const value& v : constants) known_[v.get()] = next++;
  for (const auto all : {step.list->inputs(), constants}) {
    add(static_cast<std::int64_t>(all.size()));
    for (const value& v : all) {
      add(static_cast<std::int64_t>(v->type) | static_cast<std::int64_t>(v->device.kind) << 8 |
          std::int64_t{v->device.index} << 16);
      add(v->shape);
    }
  }
  for (const value& v : constants) add_number(text_, v);
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) add_entry(step.list->entries()[k]);
  for (const value& v : step.results) add_value(v);
  if (!says_all_) text_.clear();
}

void step_signature::add(const core::dims& all) {
  add(all.size());
  for (const std::int64_t n : all) add(n);
}

void step_signature::add_value(const value& v) {
  if (!v) return add(static_cast<std::int64_t>(place::nothing));
  if (const auto found = known_.find(v.get()); found != known_.end()) return add(found->second);
  add(static_cast<std::int64_t>(is_number(v) ? place::number : place::read));
  add(static_cast<std::int64_t>(v->type));
  add(v->shape);
  if (is_number(v)) return add_number(text_, v);
  known_[v.get()] = static_cast<std::int64_t>(known_.size());
  reads_.push_back(v);
}

void step_signature::add_entry(const graph::trace::entry& e) {
  add(static_cast<std::int64_t>(e.kind) | (e.is_constant ? 256 : 0) | (e.call ? 512 : 0));
  for (const value& v : e.operands) add_value(v);
  for (const value& v : e.results) {
    if (!v) {
      says_all_ = false;
      continue;
    }
    known_[v.get()] = static_cast<std::int64_t>(known_.size());
    add(static_cast<std::int64_t>(v->type));
    add(v->shape);
  }
  if (!e.call) return add_payload(e.made(), e.kind);
  if (!e.call->is_matrix_product()) says_all_ = false;  // no kernel has others
  for (const std::int64_t n : static_cast<const traced_opaque&>(*e.call).call.numbers) add(n);
}

void step_signature::add_payload(const node& n, node_kind kind) {
  switch (kind) {
    case node_kind::map: return add(static_cast<std::int64_t>(n.map().op) << 1 | (n.map().fast_math ? 1 : 0));
    case node_kind::view: add(n.view().strides); return add(n.view().offset);
    case node_kind::reduce:
      add(static_cast<std::int64_t>(n.reduce().op));
      add(static_cast<std::int64_t>(n.reduce().axes));
      add(n.reduce().whole.results);
      add(std::int64_t{n.reduce().whole.split_lanes});
      if (n.reduce().combine) says_all_ = false;
      return;
    case node_kind::update:
      add(n.update().strides);
      add(n.update().offset);
      return add(n.update().in_place ? 1 : 0);
    default: says_all_ = false;
  }
}

}  // namespace sinter::ops
