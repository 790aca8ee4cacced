// Leaves of meshes, and values made of pieces.
#include "dist/shards.hpp"

#include <memory>

#include "graph/values/record.hpp"

namespace sinter::sharding {

const shards& shards_of(const graph::node& leaf) noexcept {
  return *static_cast<const shards*>(leaf.buffer->address());
}

runtime::buffer_ref buffer_of(const mesh_state& m, shards s) {
  auto kept = std::make_shared<shards>(std::move(s));
  void* const address = kept.get();
  // Fixed: nothing is written in place.
  return std::make_shared<runtime::buffer>(runtime::get_backend(m.id()), address, 0, std::move(kept), true);
}

value leaf_of(const mesh_state& m, const dims& shape, dtype type, shards s) {
  return graph::make_leaf(buffer_of(m, std::move(s)), 0, shape, type);
}

parts parts_of(const mesh_state& m, const graph::node& leaf) {
  const shards& s = shards_of(leaf);
  parts out{s.how, {}};
  out.at.resize(static_cast<std::size_t>(m.size()));
  for (const int p : m.locals) {
    const box where = m.part(s.how, leaf.shape, p);
    const auto k = static_cast<std::size_t>(p);
    if (!is_empty(where)) out.at[k].push_back({where, s.at[k]});
  }
  return out;
}

value block_of(const value& v, const box& of, const box& wanted) {
  if (same(of, wanted)) return v;
  const dims strides = core::contiguous_strides(v->shape);
  std::int64_t offset = 0;
  for (int a = 0; a < strides.size(); ++a) offset += (wanted.first[a] - of.first[a]) * strides[a];
  return graph::record_view(v, extents_of(wanted), strides, offset);
}

value joined(const pieces& all, const box& where, dtype type, runtime::device_id device) {
  if (all.size() == 1 && same(all[0].where, where)) return all[0].v;
  const dims shape = extents_of(where), strides = core::contiguous_strides(shape);
  value out = graph::record_unset(type, shape, device);
  for (const piece& p : all) {
    std::int64_t offset = 0;
    for (int a = 0; a < strides.size(); ++a) offset += (p.where.first[a] - where.first[a]) * strides[a];
    out = graph::record_update(out, strides, offset, p.v);
  }
  return out;
}

}  // namespace sinter::sharding
