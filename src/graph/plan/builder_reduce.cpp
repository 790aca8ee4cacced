// Kernels that reduce, and which of them have results apart. Forces on particles, say, have a short axis: what the elements
// share along it, as the magnitude of a force, would be computed for each of its places. Where that is much, the axis is
// none of the kernel's: each place is a reduction of its own, all in one pass.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "graph/plan/builder.hpp"
#include "jit/program/monotone_tail.hpp"

namespace sinter::graph {

void kernel_builder::add_reduction(node* r, std::uint16_t reg, const index_map* place) {
  const payload::reduce& what = r->reduce();
  reduced_.push_back({r, place, static_cast<std::uint16_t>(out_->code.reductions.size())});
  std::uint16_t inner = reg;
  if (what.combine) {
    auto& combines = out_->code.combines;
    inner = static_cast<std::uint16_t>(std::find(combines.begin(), combines.end(), what.combine) - combines.begin());
    if (inner == combines.size()) combines.push_back(what.combine);
  }
  out_->code.reductions.push_back({what.op, r->type, r->args[0]->type, 0, reg, inner});
}

/// The reduction of this kernel whose result `map` reads; -1 if there is none.
int kernel_builder::find_reduced(node* n, const index_map* map) const {
  for (const reduced_value& r : reduced_)
    if (r.n == n && (r.map ? map && *map == *r.map : !map)) return r.index;
  return -1;
}

/// The code that runs once for each result.
void kernel_builder::lower_results(std::span<node* const> results) {
  const auto lower_at = [&](node* n, const index_map* place) {
    const int known = place ? -1 : find(n, nullptr);
    const std::uint16_t reg = known >= 0                     ? static_cast<std::uint16_t>(known)
                              : n->kind == node_kind::reduce ? lower(n, place)
                                                             : lower_pending(n, place);
    out_->code.outputs.push_back({n->type, 0, reg});
    remember(n, place, reg);
  };
  for (node* n : results) {
    if (places_.empty()) lower_at(n, nullptr);
    for (const index_map& place : places_) lower_at(n, &place);
  }
}

bool kernel_builder::reduction(kernel_plan& out, std::span<node* const> results, std::span<node* const> reductions,
                               int apart) {
  reductions_ = reductions;
  const node* first = reductions[0];
  const dims& shape = first->args[0]->shape;
  const payload::reduce& over = first->reduce();
  dims variables, position(shape.size());
  int apart_axis = -1;  // of the operands
  for (const bool reduced : {false, true})
    for (int a = 0, kept = 0; a < shape.size(); ++a) {
      if (over.is_over(a) != reduced) continue;
      if (!reduced && kept++ == apart) {
        apart_axis = a;
        continue;
      }
      position[a] = variables.size();
      variables.push_back(shape[a]);
    }
  begin(out, variables);
  out_->kind = plan_kind::reduce;
  out_->code.kind = jit::kernel_kind::reduce;
  out_->kept = first->shape.size() - (apart >= 0);
  out_->apart = apart;
  out_->whole = over.whole;
  if (apart >= 0 && over.whole.results == 0) out_->whole.results = first->size();
  out_->results.assign(results.begin(), results.end());
  int last = shape.size() - 1;
  while (last > 0 && shape[last] == 1) --last;
  out_->reduces_last = shape.size() == 0 || over.is_over(last);

  index_map map(shape.size(), rank_ + max_gathers);
  bool is_identity = apart < 0;  // the kept axes come first
  for (int a = 0; a < shape.size(); ++a) {
    if (a == apart_axis) continue;
    map.coefficient(a, position[a]) = 1;
    is_identity = is_identity && position[a] == a;
  }
  std::vector<node*> operands;
  for (node* r : reductions) operands.push_back(r->args[0].get());
  store_rolled_operands(operands);
  if (is_identity) lower_in_order(operands);
  std::vector<std::uint16_t> registers;
  for (std::int64_t place = 0; place < (apart < 0 ? 1 : shape[apart_axis]); ++place) {
    if (apart >= 0) map.offset(apart_axis) = place;
    for (node* r : reductions) {
      node* x = r->args[0].get();
      registers.push_back(lower(x, is_plain(x, map) ? nullptr : &map));
    }
  }
  if (in_order_) roll(registers);

  if (apart >= 0) {
    index_map at(first->shape.size(), rank_ + max_gathers);
    for (int k = 0, variable = 0; k < at.rows(); ++k)
      if (k != apart) at.coefficient(k, variable++) = 1;
    places_.assign(static_cast<std::size_t>(shape[apart_axis]), at);
    for (std::size_t k = 0; k < places_.size(); ++k) places_[k].offset(apart) = static_cast<std::int64_t>(k);
  }
  for (std::size_t k = 0; k < registers.size(); ++k)
    add_reduction(reductions[k % reductions.size()], registers[k],
                  apart < 0 ? nullptr : &places_[k / reductions.size()]);
  out_->code.epilogue = static_cast<std::uint16_t>(out_->code.code.size());
  if (out_->code.loop.end == 0) jit::mark_tail(out_->code);

  in_epilogue_ = true;
  begin_phase();
  phase_code_ = out_->code.code.size();
  phase_inputs_ = out_->inputs.size();
  whole_ = dims(out_->extents.data(), out_->kept);
  space_ = core::element_count(whole_);
  joined_.clear();
  gathers_ = 0;  // those registers belong to the per-element phase, not to the results
  for (node* n : results) table_.at(n).result_of = phase_;
  lower_results(results);
  return finish();
}

namespace {

/// The most places: they are outputs.
constexpr std::int64_t most_places = 4;
/// The weight of what places share from which a kernel computes it once.
constexpr int worth_sharing = 8;

/// Whether elements of `x`, which broadcasts to a shape of `rank` axes, are the same along one of them.
bool is_same_along(const node& x, int rank, int axis) noexcept {
  const int own = axis - (rank - x.shape.size());
  if (own < 0 || x.shape[own] == 1) return true;
  return x.kind.load(std::memory_order_relaxed) == node_kind::view && x.view().strides[own] == 0;
}

/// Whether an operation on elements like those of `top` has an operand that is costly and the same along an axis.
bool computes_the_same(plan_table& table, node* top, int axis) {
  const int rank = top->shape.size();
  const std::uint64_t mark = table.begin_search();
  std::vector<node*> work{top};
  while (!work.empty()) {
    node* const n = work.back();
    work.pop_back();
    if (n->is_leaf() || table.at(n).stored || std::exchange(table.at(n).search, mark) == mark) continue;
    if (is_same_along(*n, rank, axis)) {
      if (n->size() > 1 && table.inline_weight(n) >= worth_sharing) return true;
    } else if (is_operation(n->kind) && n->shape == top->shape) {
      for (int k = 0; k < n->operand_count(); ++k)
        if (!reads_raw(*n, k)) work.push_back(n->operand(k));
    }
  }
  return false;
}

/// The axis of a reduction's operand that is an axis of its result.
int operand_axis(const node& reduction, int axis) noexcept {
  int a = 0;
  for (;; ++a)
    if (!reduction.reduce().is_over(a) && axis-- == 0) return a;
}

}  // namespace

int axis_to_take_apart(plan_table& table, const node& result, std::span<node* const> reductions) {
  const dims& shape = reductions[0]->shape;
  if (table.at(const_cast<node*>(&result)).together || !(result.shape == shape)) return -1;
  if (reductions[0]->opaque || reductions[0]->reduce().whole.split_lanes != 0) return -1;
  constexpr std::int64_t most_outputs = 8;
  for (int axis = shape.size(); axis-- > 0;) {
    const std::int64_t places = shape[axis];
    if (places < 2 || places > most_places || places * static_cast<std::int64_t>(reductions.size()) > most_outputs)
      continue;
    if (reductions[0]->size() / places < 2) continue;  // one result would be a row
    for (node* r : reductions)
      if (computes_the_same(table, r->args[0].get(), operand_axis(*r, axis))) return axis;
  }
  return -1;
}

bool saves_operations(const kernel_plan& k) {
  const jit::program& p = k.code;
  std::vector<std::uint64_t> places(p.epilogue);  // that need an instruction: a bit for each reduction
  for (std::size_t r = 0; r < p.reductions.size(); ++r) places[p.reductions[r].reg] |= std::uint64_t{1} << r;
  int saved = 0;
  for (std::size_t i = places.size(); i-- > 0;) {
    p.each_operand(p.code[i], [&](std::uint16_t reg) { places[reg] |= places[i]; });
    if (const int count = std::popcount(places[i]); count > 1) saved += (count - 1) * jit::weight(p.code[i].op);
  }
  return p.loop.end == 0 && p.calls.empty() && saved >= worth_sharing;
}

}  // namespace sinter::graph
