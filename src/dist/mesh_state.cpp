// The meshes of the process, and the backend that stands for each: it has no memory, and says so.
#include "dist/mesh_state.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "dist/evaluation.hpp"
#include "dist/opaque.hpp"
#include "runtime/collectives/mesh_devices.hpp"
#include "sinter/error.hpp"

namespace sinter::sharding {
namespace {

[[noreturn]] void refuse(const runtime::backend& b, const char* what) {
  throw device_error("[dist] " + std::string(what) + " " + to_string(b.id()) +
                     ", whose devices have a part of each array: this function runs on one device. dist::gather makes "
                     "an array of one device, dist::local gives the parts");
}

/// Memory that there is not: requests name the mesh.
class no_memory final : public runtime::block_source {
 public:
  explicit no_memory(const runtime::backend& of) : of_(of) {}
  void* allocate(std::size_t, runtime::stream*&, runtime::use_list*&) override {
    refuse(of_, "an array cannot be made in the memory of");
  }
  void deallocate(void*, std::size_t, runtime::stream&, runtime::use_list*) noexcept override {}

 private:
  const runtime::backend& of_;
};

class mesh_backend final : public runtime::backend {
 public:
  explicit mesh_backend(const mesh_state& m) : mesh_(m), memory_(*this), stream_(*this, 0, true) {
    start(m.id(), stream_, memory_);
  }
  runtime::device_id id() const override { return mesh_.id(); }
  std::string description() const override { return mesh_.description(); }
  std::string identity() const override { return mesh_.description(); }
  bool host_addressable() const override { return false; }
  runtime::pool& memory_pool(memory_kind) override { refuse(*this, "there is no memory of"); }

  void copy_from_host(void*, const void*, std::size_t) override { refuse(*this, "elements cannot be copied to"); }
  void copy_to_host(void*, const void*, std::size_t) override { refuse(*this, "elements cannot be copied from"); }
  void copy(void*, const void*, std::size_t) override { refuse(*this, "elements cannot be copied on"); }
  void prepare(std::span<const jit::launch>, std::span<const runtime::prepared*>) override {
    refuse(*this, "kernels do not run on");
  }
  std::size_t scratch_bytes(const runtime::prepared&, const jit::launch&) const override { return 0; }
  void run(const runtime::prepared&, const jit::launch&, void*) override { refuse(*this, "kernels do not run on"); }
  void synchronize() override {
    for (int p = 0; p < mesh_.size(); ++p)
      if (mesh_.is_local(p)) runtime::get_backend(mesh_.devices[static_cast<std::size_t>(p)]).synchronize();
    if (mesh_.group) mesh_.group->check();
  }
  runtime::data_fault take_fault(runtime::bad_index*) override { return {}; }
  std::string source(const jit::launch&) override { return {}; }
  jit::schedule schedule(const jit::launch&) override { return {}; }
  runtime::counters statistics() const override { return {}; }
  std::unique_ptr<runtime::timer> make_timer() override { refuse(*this, "time cannot be measured on"); }
  runtime::stream& open_stream(const runtime::stream_options&) override { refuse(*this, "there are no streams on"); }
  runtime::stream& wrap_stream(void*) override { refuse(*this, "there are no streams on"); }
  void close_stream(runtime::stream&) noexcept override {}
  std::unique_ptr<runtime::event> make_event(bool) override { refuse(*this, "there are no events on"); }
  runtime::stream& begin_capture() override { refuse(*this, "work cannot be captured on"); }
  std::unique_ptr<runtime::recorded_work> end_capture(runtime::stream&) override {
    refuse(*this, "work cannot be captured on");
  }
  void abandon_capture(runtime::stream&) noexcept override {}
  device_properties properties() override { return {}; }
  runtime::fourier& fourier() override { refuse(*this, "transforms do not run on"); }

 private:
  const mesh_state& mesh_;
  no_memory memory_;
  runtime::stream stream_;
};

struct meshes {
  std::mutex mutex;
  std::deque<mesh_state> all;

  static meshes& instance() {
    static auto* m = new meshes;  // outlives static arrays
    return *m;
  }
};

}  // namespace

bool mesh_state::share_device(int p, int q) const noexcept {
  if (p == q) return true;
  if (group && !(is_local(p) && is_local(q))) return false;
  return devices[static_cast<std::size_t>(p)] == devices[static_cast<std::size_t>(q)];
}

std::int64_t mesh_state::parts_along(const std::vector<int>& axes) const noexcept {
  std::int64_t n = 1;
  for (const int a : axes) n *= extents[a];
  return n;
}

std::int64_t mesh_state::number_along(int position, const std::vector<int>& axes) const noexcept {
  std::int64_t number = 0;
  for (const int a : axes) {
    std::int64_t below = 1;
    for (int k = a + 1; k < extents.size(); ++k) below *= extents[k];
    number = number * extents[a] + position / below % extents[a];
  }
  return number;
}

box mesh_state::part(const layout& how, const dims& shape, int position) const {
  box b = whole_box(shape);
  for (const split& s : how.splits) {
    const auto k = static_cast<std::size_t>(number_along(position, s.over));
    b.first[s.axis] = s.bounds[k];
    b.end[s.axis] = s.bounds[k + 1];
  }
  return b;
}

int mesh_state::twin(const layout& how, int position) const noexcept {
  if (group && group->local_ranks().size() == 1) return position;  // none shares its memory
  for (int q = 0; q < position; ++q) {
    if (!share_device(q, position)) continue;
    const bool alike = std::all_of(how.splits.begin(), how.splits.end(), [&](const split& s) {
      return number_along(q, s.over) == number_along(position, s.over);
    });
    if (alike) return q;
  }
  return position;
}

std::string mesh_state::description() const {
  std::string text = "mesh of ";
  for (int a = 0; a < extents.size(); ++a) text += (a ? " x " : "") + std::to_string(extents[a]);
  text += size() == 1 ? " device (" : " devices (";
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (k > 0 && devices[k] == devices[0] && devices.back() == devices[0]) break;
    text += (k ? ", " : "") + runtime::to_string(devices[k]);
  }
  if (group) text += "; one a process, by " + group->transport();
  return text + ")";
}

mesh_state& mesh_of(runtime::device_id id) {
  meshes& m = meshes::instance();
  const std::lock_guard lock(m.mutex);
  return m.all.at(static_cast<std::size_t>(id.index));
}

mesh_state& intern_mesh(const dims& extents, std::vector<std::string> names, std::vector<runtime::device_id> devices,
                        runtime::communicator_ref group) {
  meshes& m = meshes::instance();
  const std::lock_guard lock(m.mutex);
  for (mesh_state& known : m.all)
    if (known.extents == extents && known.names == names && known.devices == devices && known.group == group)
      return known;
  mesh_state& made = m.all.emplace_back();
  made.index = static_cast<int>(m.all.size()) - 1;
  made.extents = extents;
  made.names = std::move(names);
  made.devices = std::move(devices);
  made.group = std::move(group);
  for (int p = 0; p < made.size(); ++p)
    if (made.is_local(p)) made.locals.push_back(p);
  runtime::install_mesh(made.index, std::make_unique<mesh_backend>(made));
  set_evaluation();
  set_interceptor();
  return made;
}

}  // namespace sinter::sharding
