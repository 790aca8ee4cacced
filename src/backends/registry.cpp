// Which devices there are, and the one backend of each. The only file outside of the backends that names them.
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cpu/backend.hpp"
#include "platform/environment.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/collectives/mesh_devices.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"
#ifdef SINTER_HAS_CUDA
#include "backends/cuda/backend.hpp"
#endif

namespace sinter::runtime {
namespace {

/// Numbers of GPUs that tests have made up, as bits; the driver does not count them.
std::atomic<std::uint64_t> made_up{0};
std::atomic<std::unique_ptr<memory_source> (*)()> made_up_pinned{nullptr};

void watch_forks() noexcept {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { lost_to_fork.store(true, std::memory_order_relaxed); });
}

bool is_lost(device_id id) noexcept {
  return id.kind == device_kind::cuda && lost_to_fork.load(std::memory_order_relaxed);
}

int cuda_devices() noexcept {
  if (lost_to_fork.load(std::memory_order_relaxed)) return 0;
#ifdef SINTER_HAS_CUDA
  const int count = cuda_device_count();
  if (count > 0) watch_forks();
  return count;
#else
  return 0;
#endif
}

std::string cuda_missing() {
  if (lost_to_fork.load(std::memory_order_relaxed))
    return "the process was forked from one that used GPUs, and CUDA does not survive that; fork before the first use "
           "of "
           "a GPU, or restart the program (exec)";
#ifdef SINTER_HAS_CUDA
  return cuda_unavailable_reason();
#else
  return "sinter was built without the CUDA toolkit";
#endif
}

std::unique_ptr<backend> make_backend(device_id id) {
  platform::check_environment();
#ifdef SINTER_HAS_CUDA
  if (id.kind == device_kind::cuda) return make_cuda_backend(id.index);
#endif
  (void)id;
  return make_cpu_backend();
}

void require(device_id id, const char* function) {
  int count = device_count(id.kind);
  if (id.index >= 0 && id.index < count) return;
  if (!is_lost(id) && id.kind == device_kind::cuda && id.index >= 0 && id.index < 64 &&
      (made_up.load() >> id.index & 1))
    return;
  std::string message = std::string("[") + function + "] there is no device " + to_string(id) + ": ";
  if (id.kind == device_kind::cpu) message += "the only CPU device is cpu";
  else if (count == 0) message += cuda_missing();
  else message += "the driver offers " + std::to_string(count) + " CUDA device" + (count == 1 ? "" : "s");
  throw device_error(message);
}

/// Never destroyed: arrays in static storage release their memory after main.
struct registry {
  std::mutex mutex;
  std::unique_ptr<backend> cpu;
  std::vector<std::unique_ptr<backend>> cuda, meshes;
  bool chosen = false;
  device_id default_id;

  static registry& instance() {
    static auto* r = new registry;
    return *r;
  }
};

device_id device_from_environment() {
  platform::check_environment();
  if (const char* text = std::getenv("SINTER_DEVICE"); text && *text) {
    device_id id = parse_device(text);
    require(id, "SINTER_DEVICE");
    return id;
  }
  return cuda_devices() > 0 ? device_id{device_kind::cuda, 0} : device_id{};
}

}  // namespace

backend& get_backend(device_id id) {
  // Each thread caches its last device: nearly every call is for the same one.
  thread_local backend* last = nullptr;
  thread_local device_id last_id;
  if (last && last_id == id && !is_lost(id)) return *last;
  if (id.kind != device_kind::mesh) require(id, "device");
  registry& r = registry::instance();
  std::lock_guard lock(r.mutex);
  auto index = static_cast<std::size_t>(id.index);
  if (id.kind == device_kind::mesh) {
    if (id.index < 0 || index >= r.meshes.size() || !r.meshes[index])
      throw device_error("[device] there is no device " + to_string(id) + ": meshes are made by sinter::dist::mesh");
    last_id = id;
    return *(last = r.meshes[index].get());
  }
  if (id.kind == device_kind::cuda && r.cuda.size() <= index) r.cuda.resize(index + 1);
  auto& slot = id.kind == device_kind::cuda ? r.cuda[index] : r.cpu;
  if (!slot) slot = make_backend(id);
  last = slot.get();
  last_id = id;
  return *last;
}

device_id default_device() {
  if (const int slot = this_thread().default_slot; slot >= 0) [[unlikely]]
    return slot == 0 ? device_id{} : device_id{device_kind::cuda, slot - 1};
  registry& r = registry::instance();
  {
    std::lock_guard lock(r.mutex);
    if (r.chosen) return r.default_id;
  }
  device_id id = device_from_environment();
  std::lock_guard lock(r.mutex);
  if (!r.chosen) {
    r.chosen = true;
    r.default_id = id;
  }
  return r.default_id;
}

void set_default_device(device_id id) {
  require(id, "set_default_device");
  registry& r = registry::instance();
  std::lock_guard lock(r.mutex);
  r.chosen = true;
  r.default_id = id;
}

void install_gpu_for_tests(int index, std::unique_ptr<backend> b, std::unique_ptr<memory_source> (*pinned)()) {
  registry& r = registry::instance();
  const std::lock_guard lock(r.mutex);
  watch_forks();
  const auto k = static_cast<std::size_t>(index);
  if (r.cuda.size() <= k) r.cuda.resize(k + 1);
  r.cuda[k] = std::move(b);
  made_up |= std::uint64_t{1} << index;
  made_up_pinned = pinned;
}

void install_mesh(int index, std::unique_ptr<backend> b) {
  registry& r = registry::instance();
  const std::lock_guard lock(r.mutex);
  const auto k = static_cast<std::size_t>(index);
  if (r.meshes.size() <= k) r.meshes.resize(k + 1);
  if (!r.meshes[k]) r.meshes[k] = std::move(b);
}

void synchronize_gpus() noexcept {
  std::vector<backend*> all;
  registry& r = registry::instance();
  {
    const std::lock_guard lock(r.mutex);
    for (const auto& b : r.cuda)
      if (b) all.push_back(b.get());
  }
  for (backend* b : all) {
    try {
      b->synchronize();
    } catch (...) {  // a device that has failed works on nothing
    }
  }
}

std::unique_ptr<memory_source> make_pinned_source() {
#ifdef SINTER_HAS_CUDA
  if (cuda_devices() > 0) return make_cuda_pinned_source();
#endif
  if (const auto make = made_up_pinned.load(); make && !lost_to_fork) return make();
  throw device_error("[memory] pinned memory needs a CUDA device: " + cuda_missing());
}

int device_count(device_kind kind) {
  if (kind == device_kind::mesh) {
    registry& r = registry::instance();
    const std::lock_guard lock(r.mutex);
    return static_cast<int>(r.meshes.size());
  }
  return kind == device_kind::cpu ? 1 : cuda_devices();
}

std::string why_no_device(device_kind kind) { return device_count(kind) > 0 ? "" : cuda_missing(); }

device_id parse_device(std::string_view text) {
  std::string_view name = text.substr(0, text.find(':'));
  device_id id;
  bool known = name == "cpu" || name == "cuda";
  if (name == "cuda") id.kind = device_kind::cuda;
  if (known && name.size() < text.size()) {
    std::string_view digits = text.substr(name.size() + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.index);
    known = error == std::errc() && end == digits.data() + digits.size() && !digits.empty() && id.index >= 0;
  }
  if (!known) throw device_error("[parse_device] '" + std::string(text) + "' is not a device: use cpu, cuda or cuda:N");
  return id;
}

std::string to_string(device_id id) {
  if (id.kind == device_kind::cpu) return id.index == 0 ? "cpu" : "cpu:" + std::to_string(id.index);
  if (id.kind == device_kind::mesh) return "mesh:" + std::to_string(id.index);
  return "cuda:" + std::to_string(id.index);
}

}  // namespace sinter::runtime
