// Selections by flags: each part gives those of its elements, so that the parts of the result are as long as it has.
#include <algorithm>
#include <string>
#include <string_view>

#include "dist/calls/opaque_parts.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::sharding {

using ops::opaque_call;

split found_by_parts(const mesh_state& m, const split& by, const std::vector<ndarray>& found) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(by.parts()));
  const auto at = [&](int p) -> std::int64_t& { return counts[static_cast<std::size_t>(m.number_along(p, by.over))]; };
  for (const int p : m.locals) at(p) = found[static_cast<std::size_t>(p)].size();
  if (m.group) {
    const std::vector<std::string> all = m.group->gather_texts(std::to_string(at(m.first_local())));
    for (std::size_t k = 0; k < all.size(); ++k) at(static_cast<int>(k)) = std::stoll(all[k]);
  }
  split out{0, by.over, {0}};
  for (const std::int64_t n : counts) out.bounds.push_back(out.bounds.back() + n);
  return out;
}

namespace {

/// The layout whose parts follow each other in C order: selections have the order of the elements.
layout in_order(const operand_parts& x) {
  int first = 0;
  while (first + 1 < x.shape().size() && x.shape()[first] == 1) ++first;
  if (x.how().splits.size() == 1 && x.how().splits[0].axis <= first) return x.how();
  split all{first, {}, {}};
  for (const split& s : x.how().splits) all.over.insert(all.over.end(), s.over.begin(), s.over.end());
  all.bounds = even_bounds(x.shape()[first], x.m->parts_along(all.over));
  layout how;
  how.add(std::move(all));
  return how;
}

}  // namespace

results select_parts(const opaque_call& call) {
  const bool positions = std::string_view(call.name) == "true_positions";
  operand_parts flags = parts_of(call.operands.back());
  if (const operand_parts of = parts_of(call.operands[0]); flags.how().is_replicated() && of.shape() == flags.shape())
    flags = flags.as(of.how());
  const dims shape = flags.shape();
  if (!positions && !(parts_of(call.operands[0]).shape() == shape))
    refuse_call(call, flags, "the flags have another shape than the array",
                "redistribute both with {replicate()}, where every device does all of the work");
  flags = flags.as(in_order(flags));
  std::int64_t inner = 1;
  for (int a = flags.how().splits[0].axis + 1; a < shape.size(); ++a) inner *= shape[a];
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
  split out = found_by_parts(*flags.m, s, found);
  layout how;
  const dims length{out.bounds.back()};
  how.add(std::move(out));
  const dtype type = positions ? dtype::i64 : data.leaf->type;
  return {from_parts(*flags.m, how, length, type, [&](int p) { return found[static_cast<std::size_t>(p)]; })};
}

}  // namespace sinter::sharding
