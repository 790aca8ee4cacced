// Users' functions that run at once because they write arrays by index, write several arrays, or carry state around
// their loop.
#include "graph/run/call.hpp"

#include <utility>

#include "graph/run/flush.hpp"
#include "graph/values/trace.hpp"

namespace sinter::graph {
namespace {

/// The target of a raw output, as a leaf in C order.
struct written {
  const array_view* view;
  value leaf;
  bool copy = false;  // the leaf is a packed copy of a view with gaps: its elements are copied back afterwards
};

bool has_gaps(const array_view& v) { return !core::is_contiguous(v.shape, v.strides); }

written open(const array_view& v) {
  if (has_gaps(v)) {
    value packed = read(v);  // no affine view of it is dense: evaluation makes a buffer owned by `packed` only
    flush(std::span(&packed, 1));
    return {&v, std::move(packed), true};
  }
  const value all = elements_in_memory(v);
  return {&v, make_leaf(all->buffer, all->buffer_offset + v.offset, v.shape, v.type), false};
}

}  // namespace

void run_call(const jit::user_function* f, const dims& shape, std::vector<value> operands,
              std::span<const view_ref> outputs) {
  if (core::element_count(shape) == 0) return;
  for (const value& operand : operands)
    note_memory_use(operand, "an argument of a kernel that writes its results itself");
  std::vector<storage*> stores;
  for (const view_ref& v : outputs) stores.push_back(v->store.get());
  const write_locks mine(std::move(stores));
  std::vector<written> raw;
  std::vector<std::pair<const array_view*, value>> regular;
  // All storages first: two outputs may be views of one.
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (f->outputs[k].raw && !has_gaps(*outputs[k])) own_elements(*outputs[k]->store);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (f->outputs[k].raw) raw.push_back(open(*outputs[k]));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (f->outputs[k].raw) continue;
    const array_view& v = *outputs[k];
    const bool in_place = v.whole && !v.store->pinned() && v.store->is_sole_owner();
    regular.emplace_back(&v, in_place ? v.store->held() : unset_leaf(shape, v.type, v.device()));
  }
  for (const written& w : raw) operands.push_back(w.leaf);
  std::vector<value> targets;
  for (const auto& target : regular) targets.push_back(target.second);
  {
    value call = record_effect(f, shape, std::move(operands), std::move(targets), outputs[0]->device());
    flush(std::span(&call, 1));
  }
  for (const written& w : raw)
    if (w.copy) write(*w.view, w.leaf);
  for (auto& [view, leaf] : regular)
    if (!(view->store->held() == leaf)) write(*view, std::move(leaf));
}

}  // namespace sinter::graph
