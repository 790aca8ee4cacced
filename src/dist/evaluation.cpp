// Flushes, reads and descriptions of values on meshes.
#include "dist/evaluation.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "graph/run/array.hpp"
#include "graph/run/explain.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/mesh_hook.hpp"

namespace sinter::sharding {
namespace {

/// Evaluates parts, those that positions share once. Where that fails in one process of a job, all are told.
void flush_parts(const mesh_state& m, std::span<const shards* const> all) {
  std::vector<value> pending;
  for (const shards* s : all)
    for (const value& v : s->at)
      if (v && !v->is_leaf() && std::find(pending.begin(), pending.end(), v) == pending.end()) pending.push_back(v);
  if (pending.empty()) return;
  if (m.group) runtime::fail_together(*m.group, [&] { graph::flush(pending); });
  else graph::flush(pending);
}

/// The node becomes a leaf.
void commit(const mesh_state& m, node* n, shards s, std::vector<value>& dropped) {
  runtime::buffer_ref memory = buffer_of(m, std::move(s));
  graph::unlink_reader(n);
  graph::unlist(n);
  n->buffer = std::move(memory);
  n->buffer_offset = 0;
  n->release_operands([&](value v) { dropped.push_back(std::move(v)); });
  n->kind.store(node_kind::leaf, std::memory_order_release);
}

/// Copies a block in C order into a larger array in C order.
void scatter(char* to, const dims& shape, const char* from, const box& where, std::size_t size) {
  const dims extents = extents_of(where), strides = core::contiguous_strides(shape);
  const int rank = shape.size();
  const std::int64_t row = rank == 0 ? 1 : extents[rank - 1], rows = count_of(where) / row;
  dims at(rank);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t offset = 0;
    for (int a = 0; a < rank; ++a) offset += (where.first[a] + at[a]) * strides[a];
    std::memcpy(to + static_cast<std::size_t>(offset) * size, from + static_cast<std::size_t>(r * row) * size,
                static_cast<std::size_t>(row) * size);
    for (int a = rank - 2; a >= 0 && ++at[a] == extents[a]; --a) at[a] = 0;
  }
}

class evaluation final : public graph::mesh_evaluation {
 public:
  void evaluate(std::span<const value> roots) override {
    const mesh_state& m = mesh_of(roots[0]->device);
    tells_of_memory(m, [&] { evaluate_on(m, roots); });
  }

  void copy_to_host(const value& leaf, void* to) override {
    const mesh_state& m = mesh_of(leaf->device);
    tells_of_memory(m, [&] { copy_from(m, leaf, to); });
  }

  value from_host(const void* from, const dims& shape, dtype type, runtime::device_id mesh) override {
    const mesh_state& m = mesh_of(mesh);
    return tells_of_memory(m, [&] { return copy_of(m, from, shape, type); });
  }

  std::string describe(std::span<const value> roots, bool with_source) override {
    const mesh_state& m = mesh_of(roots[0]->device);
    std::vector<shards> results;
    std::vector<transfer> moved;
    {  // whose values would look like somebody's who needs them
      partitioner p(m, true);
      results = p.run(roots);
      moved = p.moves().log();
    }
    std::string out;
    for (std::size_t k = 0; k < roots.size(); ++k)
      out += "result " + core::to_string(roots[k]->shape) + " " + std::string(name(roots[k]->type)) + " as " +
             placements_text(m, results[k].how) + "\n";
    std::int64_t bytes = 0;
    for (const transfer& t : moved) {
      out += t.what + " of " + t.of + ": " + std::to_string(t.bytes) + " bytes between devices; waits for " + t.waits +
             "\n";
      bytes += t.bytes;
    }
    out += std::to_string(moved.size()) + " collectives, " + std::to_string(bytes) + " bytes\n";
    std::vector<value> first;
    for (const shards& s : results)
      if (const value& v = s.at[static_cast<std::size_t>(m.first_local())]; !v->is_leaf()) first.push_back(v);
    out += "the kernels of position " + std::to_string(m.first_local()) + ", as those of the others:\n";
    return first.empty() ? out + "none\n" : out + graph::describe(first, with_source);
  }

 private:
  static void evaluate_on(const mesh_state& m, std::span<const value> roots) {
    std::vector<value> pending;
    for (const value& r : roots)
      if (!r->is_leaf() && std::find(pending.begin(), pending.end(), r) == pending.end()) pending.push_back(r);
    if (!pending.empty()) {
      std::vector<shards> results;
      {
        partitioner p(m, false);
        results = p.run(pending);
      }
      // First of all the roots are leaves: what they alone referred to may then be overwritten. If the flush fails, their
      // parts stay pending.
      std::vector<value> dropped;
      for (std::size_t k = 0; k < pending.size(); ++k) commit(m, pending[k].get(), std::move(results[k]), dropped);
    }
    std::vector<const shards*> all;
    for (const value& r : roots) all.push_back(&shards_of(*r));
    flush_parts(m, all);
  }

  static void copy_from(const mesh_state& m, const value& leaf, void* to) {
    if (shards_of(*leaf).sum || (m.group && !shards_of(*leaf).how.is_replicated()))
      return copy_from(m, divided(m, leaf, {}), to);
    const shards& s = shards_of(*leaf);
    const shards* const one = &s;
    flush_parts(m, std::span(&one, 1));
    if (m.group) {
      const value all = s.at[static_cast<std::size_t>(m.first_local())];
      graph::copy_to_host(*graph::make_array(all), to);
      return m.group->check();
    }
    // All parts are read: what each of them has found in data is told by this error, and not by a later one of the device.
    std::exception_ptr wrong;
    std::vector<char> part;
    for (int p = 0; p < m.size(); ++p) {
      const bool known = [&] {
        for (int q = 0; q < p; ++q)
          if (same(m.part(s.how, leaf->shape, q), m.part(s.how, leaf->shape, p))) return true;
        return false;
      }();
      const box where = m.part(s.how, leaf->shape, p);
      if (known || is_empty(where)) continue;
      part.resize(static_cast<std::size_t>(count_of(where)) * itemsize(leaf->type));
      try {
        graph::copy_to_host(*graph::make_array(s.at[static_cast<std::size_t>(p)]), part.data());
      } catch (...) {
        if (!wrong) wrong = std::current_exception();
        continue;
      }
      scatter(static_cast<char*>(to), leaf->shape, part.data(), where, itemsize(leaf->type));
    }
    if (wrong) std::rethrow_exception(wrong);
  }

  static value copy_of(const mesh_state& m, const void* from, const dims& shape, dtype type) {
    shards s;
    for (int p = 0; p < m.size(); ++p) {
      const int t = m.twin({}, p);
      if (!m.is_local(p)) s.at.emplace_back();
      else if (t < p) s.at.push_back(s.at[static_cast<std::size_t>(t)]);
      else s.at.push_back(graph::read(*graph::from_host(from, shape, type, m.devices[static_cast<std::size_t>(p)])));
    }
    return leaf_of(m, shape, type, std::move(s));
  }
};

}  // namespace

void set_evaluation() {
  static evaluation* const only = new evaluation;
  graph::mesh_hook.store(only);
}

namespace {

value divided_on(const mesh_state& m, const value& v, const layout& how) {
  const std::lock_guard lock(graph::flush_mutex());
  shards s;
  bool free = false;
  {
    partitioner p(m, false);
    s = std::move(p.run(std::span(&v, 1), &how)[0]);
    free = p.is_free_root(v);
  }
  const shards* const one = &s;
  if (!free) flush_parts(m, std::span(&one, 1));
  return leaf_of(m, v->shape, v->type, std::move(s));
}

value redistributed_on(const mesh_state& m, const value& v, const layout& how) {
  const std::lock_guard lock(graph::flush_mutex());
  if (!v->is_leaf()) {
    bool waited = false;
    std::vector<value> dropped;
    {
      shards s;
      {
        partitioner p(m, false);
        p.enter_below(std::span(&v, 1));
        waited = !p.is_free_root(v) && p.waits(v);
        s = std::move(p.run(std::span(&v, 1), waited ? &how : nullptr)[0]);
      }
      commit(m, v.get(), std::move(s), dropped);
    }
    const shards* const one = &shards_of(*v);
    flush_parts(m, std::span(&one, 1));
    if (waited) return v;
  }
  return divided_on(m, v, how);
}

value gathered_on(const mesh_state& m, const value& v, int position) {
  const std::lock_guard lock(graph::flush_mutex());
  value all;
  {
    partitioner p(m, false);
    all = p.run_at(v, position);
  }
  graph::flush(std::span(&all, 1));
  return all;
}

}  // namespace

value divided(const mesh_state& m, const value& v, const layout& how) {
  return tells_of_memory(m, [&] { return divided_on(m, v, how); });
}

value redistributed(const mesh_state& m, const value& v, const layout& how) {
  return tells_of_memory(m, [&] { return redistributed_on(m, v, how); });
}

value gathered(const mesh_state& m, const value& v, int position) {
  return tells_of_memory(m, [&] { return gathered_on(m, v, position); });
}

}  // namespace sinter::sharding
