// Selections by flags: each part gives those of its elements, so that the parts of the result are as long as it has.
#include <algorithm>
#include <string>
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::sharding {

using ops::opaque_call;

namespace {

/// How many elements each position has found; those of other processes are asked for.
std::vector<std::int64_t> counts_of(const mesh_state& m, const std::vector<ndarray>& found) {
  std::vector<std::int64_t> out(found.size());
  for (int p = 0; p < m.size(); ++p)
    if (m.is_local(p)) out[static_cast<std::size_t>(p)] = found[static_cast<std::size_t>(p)].size();
  if (!m.group) return out;
  const auto mine = out[static_cast<std::size_t>(m.first_local())];
  const std::vector<std::string> all = m.group->gather_texts(std::to_string(mine));
  for (std::size_t k = 0; k < all.size(); ++k) out[k] = std::stoll(all[k]);
  return out;
}

}  // namespace

results select_parts(const opaque_call& call) {
  const bool positions = std::string_view(call.name) == "true_positions";
  operand_parts flags = parts_of(call.operands.back());
  if (const operand_parts of = parts_of(call.operands[0]); flags.how().is_replicated() && of.shape() == flags.shape())
    flags = flags.as(of.how());
  const dims& shape = flags.shape();
  std::int64_t inner = 1;
  bool in_order = flags.how().splits.size() == 1;
  for (int a = 0; in_order && a < shape.size(); ++a) {
    const int axis = flags.how().splits[0].axis;
    if (a < axis) in_order = shape[a] == 1;
    if (a > axis) inner *= shape[a];
  }
  if (!in_order || (!positions && !(parts_of(call.operands[0]).shape() == shape)))
    refuse_call(call, flags, "the elements that are selected have the order of its first axis",
                "redistribute it along its first axis, {shard(0)}, or with {replicate()}");
  const split& s = flags.how().splits[0];
  const operand_parts data = parts_of(call.operands[0]).as(flags.how());
  std::vector<ndarray> found;
  for (int p = 0; p < flags.m->size(); ++p) {
    if (!flags.m->is_local(p)) {
      found.emplace_back();
      continue;
    }
    std::vector<ndarray> local{data.at(p)};
    if (!positions) local.push_back(flags.at(p));
    ndarray mine = call.again(local)[0];
    const auto k = static_cast<std::size_t>(flags.m->number_along(p, s.over));
    if (positions) mine = mine + s.bounds[k] * inner;
    found.push_back(mine);
  }
  const std::vector<std::int64_t> counts = counts_of(*flags.m, found);
  split out{0, s.over, {0}};
  for (std::int64_t k = 0; k < s.parts(); ++k)
    for (int p = 0; p < flags.m->size(); ++p) {
      if (flags.m->number_along(p, s.over) != k) continue;
      out.bounds.push_back(out.bounds.back() + counts[static_cast<std::size_t>(p)]);
      break;
    }
  layout how;
  const dims length{out.bounds.back()};
  how.add(std::move(out));
  const dtype type = positions ? dtype::i64 : data.leaf->type;
  return {from_parts(*flags.m, how, length, type, [&](int p) { return found[static_cast<std::size_t>(p)]; })};
}

}  // namespace sinter::sharding
