// Which blocks go from where to where.
#include "dist/transfers.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "graph/run/array.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/record.hpp"
#include "runtime/backend.hpp"

namespace sinter::sharding {

runtime::stream& arrivals_of(runtime::backend& device) {
  static constinit std::atomic<runtime::stream*> opened[runtime::device_slots] = {};
  std::atomic<runtime::stream*>& mine = opened[device.slot()];
  if (runtime::stream* const s = mine.load(std::memory_order_acquire)) return *s;
  static auto* const opening = new std::mutex;  // outlives static arrays
  const std::lock_guard lock(*opening);
  if (!mine.load(std::memory_order_relaxed))
    mine.store(&device.open_stream({.non_blocking = true}), std::memory_order_release);
  return *mine.load(std::memory_order_relaxed);
}

/// The positions that have one part.
struct holders {
  box where;
  std::vector<int> positions;
};

namespace {

std::vector<holders> holders_of(const mesh_state& m, const layout& how, const dims& shape) {
  std::vector<holders> all;
  std::int64_t parts = 1;
  for (const split& s : how.splits) parts *= s.parts();
  std::vector<int> known(static_cast<std::size_t>(parts), -1);  // by the number of a part
  for (int p = 0; p < m.size(); ++p) {
    std::int64_t number = 0;
    for (const split& s : how.splits) number = number * s.parts() + m.number_along(p, s.over);
    int& at = known[static_cast<std::size_t>(number)];
    if (at < 0) {
      at = static_cast<int>(all.size());
      all.push_back({m.part(how, shape, p), {}});
    }
    all[static_cast<std::size_t>(at)].positions.push_back(p);
  }
  return all;
}

/// Which of the holders of a part a position gets it from: itself, one of its device, or else one of all in turn.
int nearest(const mesh_state& m, const holders& h, int position) {
  for (const int q : h.positions)
    if (q == position) return q;
  for (const int q : h.positions)
    if (m.share_device(q, position)) return q;
  return h.positions[static_cast<std::size_t>(position) % h.positions.size()];
}

/// Of what comes to a GPU in its scope: enqueued beside the kernels. Captures refuse it, on their own stream.
class beside_kernels {
 public:
  explicit beside_kernels(runtime::device_id device) {
    runtime::backend& b = runtime::get_backend(device);
    if (!b.host_addressable() && !graph::is_capturing()) arrivals_.emplace(arrivals_of(b));
  }

 private:
  std::optional<runtime::current_guard> arrivals_;
};

/// Whether so much of a piece is sent that it is computed whole rather than twice.
bool is_large_part(const box& sent, const box& of) { return count_of(sent) * 4 >= count_of(of); }

}  // namespace

wishes parts_under(const mesh_state& m, const layout& how, const dims& shape) {
  wishes want;
  for (int p = 0; p < m.size(); ++p) want.push_back(m.part(how, shape, p));
  return want;
}

std::int64_t bytes_to_move(const mesh_state& m, const layout& how, const dims& shape, dtype type, const wishes& want) {
  std::int64_t elements = 0;
  for (int p = 0; p < m.size(); ++p) {
    const box& w = want[static_cast<std::size_t>(p)];
    elements += count_of(w) - count_of_both(w, m.part(how, shape, p));
  }
  return elements * static_cast<std::int64_t>(itemsize(type));
}

void mover::note(const parts& from, const dims& shape, dtype type, const wishes& want, std::int64_t bytes,
                 const char* what) {
  if (bytes == 0) return;
  const bool everything =
      std::all_of(want.begin(), want.end(), [&](const box& w) { return same(w, whole_box(shape)); });
  const std::int64_t all = core::element_count(shape) * static_cast<std::int64_t>(itemsize(type));
  bool pending = false;
  for (const pieces& part : from.at)
    for (const piece& p : part) pending = pending || !p.v->is_leaf();
  log_.push_back({what              ? what
                  : everything      ? "all-gather"
                  : bytes * 4 < all ? "halo exchange"
                                    : "redistribution",
                  core::to_string(shape) + " " + std::string(name(type)), bytes,
                  pending ? "the kernels that compute what is sent" : "nothing: the parts are in memory"});
}

void mover::note(const char* what, const dims& shape, dtype type, std::int64_t bytes) {
  log_.push_back(
      {what, core::to_string(shape) + " " + std::string(name(type)), bytes, "the kernels that compute what is sent"});
}

value mover::copy_to(const value& v, int position) {
  const runtime::device_id device = mesh_.devices[static_cast<std::size_t>(position)];
  if (v->device == device) return v;
  if (dry_) return graph::record_unset(v->type, v->shape, device);
  const graph::view_ref here = graph::make_array(v);
  const beside_kernels here_comes(device);
  return graph::read(*graph::to_device(*here, device));
}

/// The messages of one fetch between processes.
struct mover::mail {
  std::vector<runtime::message> all;
  std::vector<value> sent, received;  // kept until they are exchanged
  std::vector<value> computed;        // of which much is sent: all of it is computed at once
  bool crosses = false;               // somebody sends, maybe not this process: all take part
};

/// A block that goes from a position of one process to one of another.
void mover::post(const parts& from, dtype type, int q, int p, const box& wanted, mail& out, pieces& to) {
  runtime::message m{.from = q, .to = p, .source = {}, .target = {}};
  if (mesh_.is_local(q)) {
    pieces shared;
    for (const piece& one : from.at[static_cast<std::size_t>(q)]) {
      const box b = intersect(wanted, one.where);
      if (is_empty(b)) continue;
      if (is_large_part(b, one.where)) out.computed.push_back(one.v);
      shared.push_back({b, block_of(one.v, one.where, b)});
    }
    out.sent.push_back(joined(shared, wanted, type, mesh_.devices[static_cast<std::size_t>(q)]));
  } else if (mesh_.is_local(p)) {
    const runtime::device_id here = mesh_.devices[static_cast<std::size_t>(p)];
    if (dry_) {
      out.received.push_back(graph::record_unset(type, extents_of(wanted), here));
    } else {
      const beside_kernels memory(here);
      out.received.push_back(graph::unset_leaf(extents_of(wanted), type, here));
    }
    const value& v = out.received.back();
    to.push_back({wanted, v});
  } else {
    return;
  }
  out.all.push_back(m);
}

void mover::exchange(mail& m) {
  if (!m.crosses || dry_) return;
  std::vector<value> all = m.computed;
  all.insert(all.end(), m.sent.begin(), m.sent.end());
  runtime::fail_together(*mesh_.group, [&] {
    graph::flush(all);
    // The others would take for elements what depends on an error in data of this process.
    for (const value& v : m.sent) graph::check_data(v);
  });
  std::size_t sent = 0, received = 0;
  const auto block = [](const value& v) {
    return runtime::elements_of(*v->buffer, v->buffer_offset, v->size(), v->type);
  };
  for (runtime::message& one : m.all) {
    if (mesh_.is_local(one.from)) one.source = block(m.sent[sent++]);
    else one.target = block(m.received[received++]);
  }
  const beside_kernels now(mesh_.devices[static_cast<std::size_t>(mesh_.first_local())]);
  mesh_.group->exchange(m.all);
}

/// What one collective brings to the positions, while it is put together.
struct mover::trip {
  const parts& from;
  dtype type;
  std::vector<holders> all;
  std::vector<pieces> out;
  std::vector<const holders*> own = {};  // of parts that this process has
  std::vector<value> sent = {};          // to other devices: computed together, before the first copy waits
  mail between = {};

  trip(const mesh_state& m, const parts& x, const dims& shape, dtype t)
      : from(x), type(t), all(holders_of(m, x.how, shape)), out(static_cast<std::size_t>(m.size())) {
    for (const holders& h : all)
      if (std::any_of(h.positions.begin(), h.positions.end(), [&](int q) { return m.is_local(q); })) own.push_back(&h);
  }
};

/// A process looks at what it gets, and at what others get of it: not at what others send each other, which in a job of many
/// processes is nearly all of it.
void mover::collect(const box& w, int p, trip& t) {
  pieces& to = t.out[static_cast<std::size_t>(p)];
  const bool here = mesh_.is_local(p);
  for (std::size_t k = 0; k < (here ? t.all.size() : t.own.size()); ++k) {
    const holders& h = here ? t.all[k] : *t.own[k];
    if (count_of_both(w, h.where) == 0) continue;
    const box wanted = intersect(w, h.where);
    const int q = nearest(mesh_, h, p);
    if (!here || !mesh_.is_local(q)) {
      if (p != q) post(t.from, t.type, q, p, wanted, t.between, to);
      continue;
    }
    for (const piece& one : t.from.at[static_cast<std::size_t>(q)]) {
      const box shared = intersect(wanted, one.where);
      if (is_empty(shared)) continue;
      value v = block_of(one.v, one.where, shared);
      if (!mesh_.share_device(p, q)) {
        if (is_large_part(shared, one.where)) t.sent.push_back(one.v);
        t.sent.push_back(v);
      }
      to.push_back({shared, std::move(v)});
    }
  }
}

void mover::finish(trip& t) {
  exchange(t.between);
  if (t.sent.empty()) return;
  if (!dry_) graph::flush(t.sent);
  for (int p = 0; p < mesh_.size(); ++p)
    for (piece& one : t.out[static_cast<std::size_t>(p)]) one.v = copy_to(one.v, p);
}

std::vector<pieces> mover::fetch(const parts& from, const dims& shape, dtype type, const wishes& want,
                                 const char* what) {
  const std::int64_t bytes = bytes_to_move(mesh_, from.how, shape, type, want);
  note(from, shape, type, want, bytes, what);
  trip t(mesh_, from, shape, type);
  t.between.crosses = mesh_.group && bytes > 0;
  for (int p = 0; p < mesh_.size(); ++p)
    if (const box& w = want[static_cast<std::size_t>(p)]; !is_empty(w)) collect(w, p, t);
  finish(t);
  // What a position has itself comes first: work on it is enqueued before what waits for the others.
  for (const int p : mesh_.locals) {
    pieces& to = t.out[static_cast<std::size_t>(p)];
    const box own = mesh_.part(from.how, shape, p);
    if (to.size() > 1)
      std::stable_partition(to.begin(), to.end(), [&](const piece& x) { return contains(own, x.where); });
  }
  return std::move(t.out);
}

namespace {

/// Boxes of an array, and their pieces in the same order, behind each other along an axis.
value behind_each_other(const pieces& all, const std::vector<box>& boxes, int axis, dtype type,
                        runtime::device_id device) {
  pieces moved;
  std::size_t k = 0;
  box where = boxes[0];
  where.first[axis] = where.end[axis] = 0;
  for (const box& b : boxes) {
    const std::int64_t by = where.end[axis] - b.first[axis];
    where.end[axis] += b.end[axis] - b.first[axis];
    if (is_empty(b)) continue;
    for (; k < all.size() && contains(b, all[k].where); ++k) {
      piece one = all[k];
      one.where.first[axis] += by;
      one.where.end[axis] += by;
      moved.push_back(std::move(one));
    }
  }
  return moved.empty() ? graph::record_unset(type, extents_of(where), device) : joined(moved, where, type, device);
}

}  // namespace

std::vector<value> mover::fetch_behind(const parts& from, const dims& shape, dtype type, const wish_lists& want,
                                       int axis) {
  trip t(mesh_, from, shape, type);
  t.between.crosses = mesh_.group != nullptr;
  for (int p = 0; p < mesh_.size(); ++p)
    for (const box& w : want[static_cast<std::size_t>(p)])
      if (!is_empty(w)) collect(w, p, t);
  finish(t);
  std::vector<value> out(want.size());
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (mesh_.is_local(p)) out[k] = behind_each_other(t.out[k], want[k], axis, type, mesh_.devices[k]);
  }
  return out;
}

}  // namespace sinter::sharding
