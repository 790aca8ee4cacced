// src/runtime: what every device offers, and what needs no device: buffers, pools, streams and their order, faults,
// threads. No expression is known here, and no vendor's library.
//
// The interface of a device. Nothing above it refers to CUDA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "jit/program/launch.hpp"
#include "jit/program/launch_list.hpp"
#include "jit/schedule/schedule.hpp"
#include "runtime/buffer.hpp"
#include "runtime/fault.hpp"
#include "runtime/raw_module.hpp"
#include "runtime/stream.hpp"
#include "runtime/thread_state.hpp"
#include "sinter/device_properties.hpp"

namespace sinter::runtime {

class algorithms;
class products;
class solvers;
class fourier;
class sparse;
class pool;

/// mesh: arrays that are distributed over several devices; the index is the mesh's.
enum class device_kind : std::uint8_t { cpu, cuda, mesh };
struct device_id {
  device_kind kind = device_kind::cpu;
  int index = 0;
  friend bool operator==(const device_id&, const device_id&) = default;
};

struct memory_figures {
  std::size_t used = 0, reserved = 0, peak = 0;  // bytes: handed out, held from the system, highest `used`
  std::size_t available = 0;                     // bytes that could still be allocated
  std::size_t limit = 0;                         // the most to be held; SIZE_MAX: none
};

/// Advice about managed memory, as sinter::memory_advice.
enum class memory_hint : std::uint8_t { read_mostly, preferred_location, accessed_by };

/// Kernels launched and bytes allocated since the process began: tests bound these.
struct counters {
  std::uint64_t launches = 0, compilations = 0, disk_hits = 0, allocations = 0;
};

/// Measures how long a device works: start, then the work, then stop. One measurement at a time.
class timer {
 public:
  virtual ~timer() = default;
  /// Marks the beginning. An asynchronous device is first kept busy for `hold` seconds, so that work which is enqueued
  /// meanwhile runs without gaps; the host is not blocked.
  virtual void start(double hold) = 0;
  virtual void stop() = 0;
  /// Whether the device has not reached the beginning yet.
  virtual bool is_held() = 0;
  /// From the beginning to the end of the work, in seconds; waits for it.
  virtual double seconds() = 0;
};

class prepared;  // opaque: what a backend needs to run one launch

class backend {
 public:
  virtual ~backend() = default;
  virtual device_id id() const = 0;
  virtual std::string description() const = 0;  // "NVIDIA H200", "AMD EPYC (2 cores)"
  virtual std::string identity() const = 0;     // what measured choices depend on: name, architecture, driver
  virtual bool host_addressable() const = 0;    // whether the host may dereference this memory

  /// The pool of a kind of memory, made at first use; throws device_error where the device has no such memory.
  virtual pool& memory_pool(memory_kind kind) = 0;
  memory_figures memory();  // of the device's own
  void trim();
  void reset_peak();
  /// Where memory of kind `device` comes from instead of the pool; null: from the pool.
  void set_block_source(std::shared_ptr<block_source> source);
  bool has_block_source() const noexcept { return has_source_.load(std::memory_order_relaxed); }
  /// memory_pool(memory_kind::device), as given to start().
  block_source& plain_memory() const noexcept { return *plain_memory_; }
  std::shared_ptr<block_source> get_block_source() const;

  // Copies, in the order of the calling thread's current stream. The caller has declared what they use (submission).
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;  // returns when `from` may be reused
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;    // synchronous
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;            // same device
  /// Between this device's memory and pinned host memory, without waiting.
  virtual void enqueue_from_host(void* to, const void* from, std::size_t bytes) { copy_from_host(to, from, bytes); }
  virtual void enqueue_to_host(void* to, const void* from, std::size_t bytes) { copy_to_host(to, from, bytes); }
  /// From another device of the same kind, without waiting; on a stream of either device.
  virtual void copy_from_peer(void* to, backend& peer, const void* from, std::size_t bytes, stream& on);
  virtual bool can_access_peer(backend&) { return false; }
  /// Managed memory only; to or about another device of this kind, or the host (null).
  virtual void prefetch(const void* p, std::size_t bytes, const backend* to);
  virtual void advise(const void* p, std::size_t bytes, memory_hint hint, const backend* where, bool on);

  /// Whether a staged program (jit/program/program.hpp) over rows of this size keeps them on chip here, so that it reads
  /// each element of its inputs once, with the bits of separate kernels.
  /// Also asked with a reduction's program, before a staged one is made: no, where none of these rows is kept.
  virtual bool keeps_rows(const jit::program&, std::int64_t /*rows*/, std::int64_t /*elements*/) const { return false; }

  /// Finds or compiles what the launches need (all of a flush at once, so that a miss compiles one module). Nothing runs
  /// yet; throws compile_error. results[i] belongs to launches[i] and stays valid for the process.
  virtual void prepare(std::span<const jit::launch> launches, std::span<const prepared*> results) = 0;
  /// Scratch bytes that run() needs.
  virtual std::size_t scratch_bytes(const prepared&, const jit::launch&) const = 0;
  /// Enqueues one launch; `scratch` has scratch_bytes() bytes.
  virtual void run(const prepared&, const jit::launch&, void* scratch) = 0;
  /// What this thread runs from here on comes one after the other, and probably came before: `kept` is what the device kept of it
  /// then (null the first time). A device that gains by it puts launches off until end_list(). Nothing else may be enqueued between.
  virtual void begin_list(std::unique_ptr<jit::launch_list>& /*kept*/) {}
  /// Where it throws, none of the list's launches has been enqueued.
  virtual void end_list() {}

  /// Waits for all streams but those that are being captured; does not look at the fault flag.
  virtual void synchronize() = 0;
  /// Of launches that begin from now on.
  fault_log& faults() noexcept { return faults_; }
  /// What captured launches, which have no fault of their own, have found. Waits for the current stream; reads and
  /// clears the record. The first index out of range that was found goes to *index.
  virtual data_fault take_fault(bad_index* index) = 0;
  data_fault take_fault() { return take_fault(nullptr); }
  virtual std::string source(const jit::launch&) = 0;  // generated source, for explain; empty where there is none
  /// How it runs a launch here, why, and how long that is estimated to take, for explain.
  virtual jit::schedule schedule(const jit::launch&) = 0;
  virtual counters statistics() const = 0;
  virtual std::unique_ptr<timer> make_timer() = 0;

  /// Compiles (through the disk cache) and loads kernels that a user wrote. Throws compile_error, and device_error where
  /// the device runs none.
  virtual std::shared_ptr<raw_module> load_module(const module_source&);

  /// Sorting, scans, selection, counting; throws device_error where the backend has none.
  virtual runtime::algorithms& algorithms();
  /// Matrix products; throws device_error where the backend has none.
  virtual runtime::products& products();
  /// Factorisations of matrices; throws device_error where the backend has none.
  virtual runtime::solvers& solvers();
  /// Fourier transforms; throws device_error where the backend has none.
  virtual runtime::fourier& fourier();
  /// Products of sparse matrices; throws device_error where the backend has none.
  virtual runtime::sparse& sparse();

  // Streams. All work is enqueued on the calling thread's current stream.
  stream& default_stream() const noexcept { return *default_stream_; }
  stream& current_stream() const noexcept {
    stream* s = this_thread().current[slot_];
    return s ? *s : *default_stream_;
  }
  int slot() const noexcept { return slot_; }
  /// Streams with a handle, besides the default one.
  std::atomic<int> held_streams{0};
  virtual stream& open_stream(const stream_options& o) = 0;
  /// Over a native handle of another library.
  virtual stream& wrap_stream(void* native) = 0;
  /// The last handle is gone; what is enqueued still runs.
  virtual void close_stream(stream& s) noexcept = 0;
  virtual std::unique_ptr<event> make_event(bool timing) = 0;

  /// A stream whose work is captured from now on instead of run; for the calling thread only.
  virtual stream& begin_capture() = 0;
  /// The captured work; throws device_error where the capture failed. The stream may be reused.
  virtual std::unique_ptr<recorded_work> end_capture(stream& s) = 0;
  virtual void abandon_capture(stream& s) noexcept = 0;

  virtual device_properties properties() = 0;

 protected:
  /// Called by constructors, before anything is allocated.
  void start(device_id id, stream& default_stream, block_source& plain_memory);
  /// Throws device_error where the current stream is being captured, of which `what` cannot be part.
  void refuse_in_capture(const char* what) const;

 private:
  stream* default_stream_ = nullptr;
  block_source* plain_memory_ = nullptr;
  int slot_ = 0;
  fault_log faults_;
  std::atomic<bool> has_source_{false};
  mutable std::mutex source_mutex_;
  std::shared_ptr<block_source> source_;
};

/// Counts changes of what backends answer planners (backend::keeps_rows): plans made before are not used after one.
inline std::atomic<std::uint64_t> planning_settings{0};

/// Called when an allocation on a device fails; returns whether it has freed something, so that the allocation is tried
/// again. Never called recursively. Null: none.
using pressure_hook = bool (*)(backend&);
void set_pressure_hook(pressure_hook hook) noexcept;
bool relieve_pressure(backend& device);

/// The backend of a device, created on first use; throws device_error that names what was tried.
backend& get_backend(device_id id);
/// SINTER_DEVICE if set ("cpu", "cuda", "cuda:1"), else the first GPU, else the CPU.
device_id default_device();
void set_default_device(device_id id);
/// The index of a device in a thread's choices (thread_state.hpp).
inline int slot_of(device_id id) noexcept { return id.kind == device_kind::cpu ? 0 : 1 + id.index; }
int device_count(device_kind kind);
/// Why there is no device of a kind; empty where there is one.
std::string why_no_device(device_kind kind);
device_id parse_device(std::string_view text);
std::string to_string(device_id id);
/// Pinned host memory that every GPU can use; device_error where there is no GPU.
class memory_source;
std::unique_ptr<memory_source> make_pinned_source();
/// Waits for every GPU that has been used.
void synchronize_gpus() noexcept;

}  // namespace sinter::runtime
