// sinter/dist.hpp: meshes, arrays in parts, and what they look like.
#include <algorithm>

#include "core/shape.hpp"
#include "dist/evaluation.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/mesh_hook.hpp"
#include "ops/base/promotion_args.hpp"
#include "sinter/dist.hpp"
#include "sinter/eval.hpp"
#include "sinter/io.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {
namespace dist {

using ops::fail;
using sharding::layout;
using sharding::mesh_state;

namespace {

constexpr std::int64_t most_positions = 4096;

mesh_state& state_of(const mesh& m) { return sharding::mesh_of(ops::to_id(m.device())); }

const mesh_state& state_of(const ndarray& x, const char* function) {
  const graph::array_view& v = ops::view_of(x, function);
  if (!graph::is_on_mesh(v.device()))
    fail<value_error>(function, "the array is on ", v.device(), ", not on a mesh; dist::shard distributes it");
  return sharding::mesh_of(v.device());
}

layout layout_of(const char* function, const mesh_state& m, const core::dims& shape, const placements& how) {
  if (static_cast<int>(how.size()) > m.extents.size())
    fail<value_error>(function, how.size(), " placements for a mesh of ", m.extents.size(), " axes");
  layout out;
  for (std::size_t k = 0; k < how.size(); ++k)
    if (how[k].what() == placement::kind::partial) out.partial.push_back(static_cast<int>(k));
  for (int axis = 0; axis < shape.size(); ++axis) {
    sharding::split s{axis, {}, {}};
    for (std::size_t k = 0; k < how.size(); ++k)
      if (how[k].what() == placement::kind::shard && ops::normalize_axis(how[k].axis(), shape, function) == axis)
        s.over.push_back(static_cast<int>(k));
    if (s.over.empty()) continue;
    s.bounds = sharding::even_bounds(shape[axis], m.parts_along(s.over));
    out.add(std::move(s));
  }
  if (shape.empty())
    for (const placement& p : how)
      if (p.what() == placement::kind::shard) ops::normalize_axis(p.axis(), shape, function);
  return out;
}

/// The job that this process is one of, opened once.
runtime::communicator_ref job_of(const mesh_kw& kw) {
  const auto mine = [&] {
    if (kw.devices.size() == 1) return ops::to_id(kw.devices[0]);
    if (!kw.devices.empty())
      fail<value_error>("mesh", "in a job each process names its own device, not ", kw.devices.size());
    const int gpus = runtime::device_count(runtime::device_kind::cuda);
    if (gpus == 0 || kw.communicator != 0) return runtime::default_device();
    return runtime::device_id{runtime::device_kind::cuda, runtime::locate_in_job().on_machine % gpus};
  };
  if (kw.communicator != 0) return runtime::open_mpi(kw.communicator, runtime::get_backend(mine()));
  static const auto* const job = new runtime::communicator_ref(runtime::open_job(runtime::get_backend(mine())));
  return *job;
}

/// The devices of all processes.
std::vector<runtime::device_id> devices_of(runtime::communicator& group) {
  std::vector<runtime::device_id> out;
  for (const std::string& text : group.gather_texts(runtime::to_string(group.local_devices()[0]->id())))
    out.push_back(runtime::parse_device(text));
  return out;
}

std::vector<runtime::device_id> devices_of(std::int64_t count, const std::vector<sinter::device>& given) {
  std::vector<runtime::device_id> out;
  if (!given.empty()) {
    if (static_cast<std::int64_t>(given.size()) != count)
      fail<value_error>("mesh", given.size(), " devices for ", count, " positions");
    for (const sinter::device& d : given) {
      if (d.kind == device_kind::mesh) fail<value_error>("mesh", "a mesh is made of devices, not of ", d);
      out.push_back(runtime::get_backend(ops::to_id(d)).id());
    }
    return out;
  }
  const int gpus = runtime::device_count(runtime::device_kind::cuda);
  if (gpus > 0 && gpus < count)
    fail<device_error>("mesh", "there are ", gpus, " GPUs for ", count,
                       " positions; name the devices to have several positions on one");
  for (int k = 0; k < count; ++k)
    out.push_back(gpus > 0 ? runtime::device_id{runtime::device_kind::cuda, k} : runtime::device_id{});
  return out;
}

void require_sums(const char* function, const layout& how, dtype type) {
  if (!how.partial.empty() && is_bool(type))
    fail<dtype_error>(function, "partial() of ", type, ": there are no sums of it");
}

/// A recorded array on the mesh, in parts.
ndarray in_parts(const char* function, const ndarray& x, const mesh& m, const placements& how) {
  const mesh_state& state = state_of(m);
  const graph::value v = ops::value_of(x, function);
  const layout to = layout_of(function, state, v->shape, how);
  require_sums(function, to, v->type);
  return ops::wrap(sharding::divided(state, v, to));
}

create_kw on(const mesh& m, create_kw kw, const char* function) {
  if (kw.device && !(*kw.device == m.device())) fail<value_error>(function, "the device is the mesh's");
  kw.device = m.device();
  return kw;
}

}  // namespace

std::string to_string(const placement& p) {
  switch (p.what()) {
    case placement::kind::shard: return "shard(" + std::to_string(p.axis()) + ")";
    case placement::kind::partial: return "partial()";
    default: return "replicate()";
  }
}

mesh::mesh(const shape_t& extents, const std::vector<std::string>& names, const mesh_kw& kw) {
  std::int64_t count = 1;
  for (const std::int64_t e : extents) {
    if (e < 1) fail<value_error>("mesh", "extents are at least 1, not ", extents);
    if (__builtin_mul_overflow(count, e, &count) || count > most_positions)
      fail<value_error>("mesh", "extents ", extents, " have more than ", most_positions, " positions");
  }
  if (!names.empty() && static_cast<int>(names.size()) != extents.ndim())
    fail<value_error>("mesh", names.size(), " names for ", extents.ndim(), " axes");
  const bool in_job =
      kw.communicator != 0 || (runtime::is_in_job() && static_cast<std::int64_t>(kw.devices.size()) < 2);
  if (!in_job || (count == 1 && kw.communicator == 0)) {
    index_ = sharding::intern_mesh(ops::to_dims(extents), names, devices_of(count, kw.devices), nullptr).index;
    return;
  }
  const runtime::communicator_ref group = job_of(kw);
  if (group->size() != count)
    fail<value_error>("mesh", "extents ", extents, " have ", count, " positions, and the job has ", group->size(),
                      " processes, one a position");
  index_ = sharding::intern_mesh(ops::to_dims(extents), names, devices_of(*group), group).index;
}

shape_t mesh::shape() const { return ops::to_shape(state_of(*this).extents); }
std::int64_t mesh::size() const { return state_of(*this).size(); }
std::vector<std::string> mesh::names() const { return state_of(*this).names; }
std::vector<sinter::device> mesh::devices() const {
  std::vector<sinter::device> out;
  for (const runtime::device_id d : state_of(*this).devices) out.push_back(ops::to_public(d));
  return out;
}

mesh mesh_of(const ndarray& x) {
  mesh m;
  m.index_ = state_of(x, "mesh_of").index;
  return m;
}

bool is_distributed(const ndarray& x) { return graph::is_on_mesh(ops::view_of(x, "is_distributed").device()); }

namespace {

/// The parts of an ordinary array.
ndarray parts_of(const mesh_state& state, const ndarray& x, const layout& asked) {
  const graph::view_ref whole = ops::ndarray_access::ref(x);
  const graph::array_view& v = *whole;
  const layout to = asked.when_made();
  graph::evaluate(std::span(&whole, 1));
  sharding::shards s{to, {}};
  for (int p = 0; p < state.size(); ++p) {
    if (!state.is_local(p)) {
      s.at.emplace_back();
      continue;
    }
    if (const int t = state.twin(to, p); t < p) {
      s.at.push_back(s.at[static_cast<std::size_t>(t)]);
      continue;
    }
    const sharding::box where = state.part(to, v.shape, p);
    std::int64_t offset = v.offset;
    for (int a = 0; a < v.shape.size(); ++a) offset += where.first[a] * v.strides[a];
    if (sharding::is_empty(where)) offset = v.offset;
    const graph::view_ref part = graph::make_view(v, sharding::extents_of(where), v.strides, offset);
    s.at.push_back(graph::read(*graph::to_device(*part, state.devices[static_cast<std::size_t>(p)])));
  }
  const graph::value out = sharding::leaf_of(state, v.shape, v.type, std::move(s));
  return ops::wrap(asked.partial.empty() ? out : sharding::divided(state, out, asked));
}

}  // namespace

ndarray shard(const ndarray& x, const mesh& m, const placements& how) {
  const mesh_state& state = state_of(m);
  const graph::array_view& v = ops::view_of(x, "shard");
  if (graph::is_on_mesh(v.device()))
    fail<value_error>("shard", "the array is on ", v.device(), " already; dist::redistribute moves it");
  const layout asked = layout_of("shard", state, v.shape, how);
  require_sums("shard", asked, v.type);
  return sharding::tells_of_memory(state, [&] { return parts_of(state, x, asked); });
}

ndarray from_local(const std::vector<ndarray>& given, const shape_t& shape, const mesh& m, const placements& how) {
  const mesh_state& state = state_of(m);
  const core::dims whole = ops::to_dims(shape);
  core::checked_count(whole, "from_local");
  const layout to = layout_of("from_local", state, whole, how);
  std::size_t mine = 0;
  for (int p = 0; p < state.size(); ++p) mine += state.is_local(p);
  if (given.size() != mine) fail<value_error>("from_local", given.size(), " parts for ", mine, " positions");
  const dtype type = ops::view_of(given[0], "from_local").type;
  require_sums("from_local", to, type);
  const dtype of_terms = type == dtype::f16 || type == dtype::bf16 ? dtype::f32 : type;
  auto sum = std::make_shared<sharding::unmade_sum>();
  sharding::shards s{to, {}};
  std::size_t next = 0;
  for (int p = 0; p < state.size(); ++p) {
    if (!state.is_local(p)) {
      s.at.emplace_back();
      continue;
    }
    const ndarray& part = given[next++];
    const graph::array_view& v = ops::view_of(part, "from_local");
    const core::dims extents = sharding::extents_of(state.part(to.when_made(), whole, p));
    if (v.type != type) fail<dtype_error>("from_local", "parts of ", type, " and of ", v.type);
    if (v.shape != extents)
      fail<shape_error>("from_local", "part ", next - 1, " has shape ", v.shape, ", and position ", p, " has ", extents,
                        " of ", whole);
    const ndarray here = part.to_device(ops::to_public(state.devices[static_cast<std::size_t>(p)])).copy();
    eval(here);
    s.at.push_back(ops::value_of(to.partial.empty() ? here : expand_dims(here.astype(of_terms, false), 0)));
  }
  if (!to.partial.empty()) {
    sum->type = of_terms;
    sum->shape = whole;
    sum->over = to.partial;
    const std::int64_t count = state.parts_along(to.partial);
    sum->shape.insert(0, count);
    for (sharding::split one : to.splits) {
      ++one.axis;
      sum->how.add(std::move(one));
    }
    sum->how.add({0, to.partial, sharding::even_bounds(count, count)});
    s.sum = std::move(sum);
  }
  return ops::wrap(sharding::leaf_of(state, whole, type, std::move(s)));
}

ndarray full(const shape_t& shape, const operand& value, const mesh& m, const placements& how, const create_kw& kw) {
  return in_parts("full", sinter::full(shape, value, on(m, kw, "full")), m, how);
}
ndarray zeros(const shape_t& shape, const mesh& m, const placements& how, const create_kw& kw) {
  return in_parts("zeros", sinter::zeros(shape, on(m, kw, "zeros")), m, how);
}
ndarray ones(const shape_t& shape, const mesh& m, const placements& how, const create_kw& kw) {
  return in_parts("ones", sinter::ones(shape, on(m, kw, "ones")), m, how);
}
ndarray arange(std::int64_t n, const mesh& m, const placements& how, const create_kw& kw) {
  return in_parts("arange", sinter::arange(n, on(m, kw, "arange")), m, how);
}
ndarray random(sinter::random::generator& from, const shape_t& shape, const mesh& m, const placements& how,
               const create_kw& kw) {
  return in_parts("random", from.random(shape, {.dtype = kw.dtype, .device = on(m, kw, "random").device}), m, how);
}

ndarray load(const std::string& path, const mesh& m, const placements& how) {
  return shard(sinter::load(path, {.mmap_mode = "r"}), m, how);
}

ndarray redistribute(const ndarray& x, const placements& how) {
  const mesh_state& m = state_of(x, "redistribute");
  const graph::value v = ops::value_of(x, "redistribute");
  const layout to = layout_of("redistribute", m, v->shape, how);
  require_sums("redistribute", to, v->type);
  return ops::wrap(sharding::redistributed(m, v, to));
}

ndarray gather(const ndarray& x, std::int64_t position) {
  const mesh_state& m = state_of(x, "gather");
  if (position < 0 || position >= m.size())
    fail<index_error>("gather", "position ", position, " of a mesh of ", m.size());
  const graph::view_ref whole = ops::ndarray_access::ref(x);
  graph::evaluate(std::span(&whole, 1));
  const graph::value v = ops::value_of(x, "gather");
  if (m.group)  // every process gets it
    return ops::wrap(sharding::shards_of(*sharding::divided(m, v, {})).at[static_cast<std::size_t>(m.first_local())]);
  return ops::wrap(sharding::gathered(m, v, static_cast<int>(position)));
}

namespace {

graph::value evaluated(const ndarray& x, const char* function) {
  const graph::value v = ops::value_of(x, function);
  graph::flush(std::span(&v, 1));
  return v;
}

}  // namespace

std::vector<ndarray> local(const ndarray& x) {
  state_of(x, "local");
  const graph::value v = evaluated(x, "local");
  std::vector<ndarray> out;
  const sharding::shards& s = sharding::shards_of(*v);
  for (const graph::value& part : s.at) {
    if (!part) continue;
    const ndarray mine = ops::wrap(part);
    if (!s.sum) out.push_back(mine);
    else
      out.push_back(
          (part->shape[s.sum->axis] == 1 ? squeeze(mine, axes{s.sum->axis}) : sum(mine, {.axis = s.sum->axis}))
              .astype(v->type, false));
  }
  return out;
}

placements placements_of(const ndarray& x) {
  const mesh_state& m = state_of(x, "placements_of");
  const graph::value v = evaluated(x, "placements_of");
  placements out(static_cast<std::size_t>(m.extents.size()));
  const layout& how = sharding::shards_of(*v).how;
  for (const sharding::split& s : how.splits)
    for (const int a : s.over) out[static_cast<std::size_t>(a)] = shard(s.axis);
  for (const int a : how.partial) out[static_cast<std::size_t>(a)] = partial();
  return out;
}

namespace {

/// The parts of up to two axes as cells with the positions that have them.
std::string drawing(const mesh_state& m, const layout& how, const core::dims& shape) {
  if (shape.size() > 2 || shape.empty()) return {};
  const int last = shape.size() - 1;
  const auto bounds_of = [&](int axis) {
    const sharding::split* s = axis < 0 ? nullptr : how.along(axis);
    return s ? s->bounds : std::vector<std::int64_t>{0, axis < 0 ? 1 : shape[axis]};
  };
  const auto rows = bounds_of(last - 1), columns = bounds_of(last);
  std::vector<std::vector<std::string>> cells(rows.size() - 1, std::vector<std::string>(columns.size() - 1));
  std::size_t width = 3;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r)
    for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
      if (rows[r] == rows[r + 1] || columns[c] == columns[c + 1]) continue;
      for (int p = 0; p < m.size(); ++p) {
        const sharding::box b = m.part(how, shape, p);
        if (sharding::is_empty(b) || b.first[last] != columns[c] || (last > 0 && b.first[0] != rows[r])) continue;
        cells[r][c] += (cells[r][c].empty() ? "" : " ") + std::to_string(p);
      }
      width = std::max(width, cells[r][c].size());
    }
  std::string line = "+";
  for (std::size_t c = 0; c + 1 < columns.size(); ++c) line += std::string(width + 2, '-') + "+";
  std::string out = line + "\n";
  for (const auto& row : cells) {
    out += "|";
    for (const std::string& cell : row) out += " " + cell + std::string(width - cell.size(), ' ') + " |";
    out += "\n" + line + "\n";
  }
  return out;
}

}  // namespace

std::string visualize(const ndarray& x) {
  const mesh_state& m = state_of(x, "visualize");
  const graph::value v = evaluated(x, "visualize");
  const layout& how = sharding::shards_of(*v).how;
  std::string out = core::to_string(v->shape) + " " + std::string(name(v->type)) + " on a " + m.description() + ": " +
                    placements_text(m, how) + "\n" + drawing(m, how, v->shape);
  for (int p = 0; p < m.size(); ++p) {
    const sharding::box where = m.part(how, v->shape, p);
    const std::string terms = how.partial.empty() ? "" : ", terms of the sum";
    out += "position " + std::to_string(p) + ", " + runtime::to_string(m.devices[static_cast<std::size_t>(p)]) + ": " +
           sharding::to_string(where) + ", " + core::to_string(sharding::extents_of(where)) + terms + "\n";
  }
  return out;
}

}  // namespace dist
}  // namespace sinter::inline v0
