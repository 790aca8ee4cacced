// What a device must offer. Nothing above this interface names CUDA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/kernel.hpp"
#include "runtime/raw_module.hpp"

namespace sinter::runtime {

class algorithms;
class products;
class solvers;
class fourier;

enum class device_kind : std::uint8_t { cpu, cuda };
struct device_id {
  device_kind kind = device_kind::cpu;
  int index = 0;
  friend bool operator==(const device_id&, const device_id&) = default;
};

struct memory_figures {
  std::size_t used = 0, reserved = 0, peak = 0;  // bytes: handed out, held from the system, highest `used`
  std::size_t available = 0;                     // bytes that could still be allocated
};

/// Kernels launched and bytes allocated since the process began: tests bound these.
struct counters {
  std::uint64_t launches = 0, compilations = 0, disk_hits = 0, allocations = 0;
};

/// What may go wrong inside a kernel; raised as a flag, reported at the next synchronisation.
enum class data_fault : int { none = 0, index_out_of_range = 1, negative_integer_power = 2, random_parameter = 3 };

/// Measures how long a device works: start, then the work, then stop. One measurement at a time.
class timer {
 public:
  virtual ~timer() = default;
  /// Marks the beginning. A device that works beside the host is first kept busy for `hold` seconds, so that work which
  /// is enqueued meanwhile runs without gaps; the host is not held.
  virtual void start(double hold) = 0;
  virtual void stop() = 0;
  /// Whether the device has yet to come to the beginning.
  virtual bool is_held() = 0;
  /// From the beginning to the end of the work, in seconds; waits for it.
  virtual double seconds() = 0;
};

/// An index out of range: its value, the axis that it indexes, that axis' extent.
struct bad_index {
  int axis = 0;
  std::int64_t value = 0, extent = 0;
};
/// Takes apart the words that kernels write (jit::fault_words).
data_fault read_fault(const int* words, bad_index* index) noexcept;

class prepared;  // opaque to callers: whatever a backend needs to run one launch

class backend {
 public:
  virtual ~backend() = default;
  virtual device_id id() const = 0;
  virtual std::string description() const = 0;          // "NVIDIA H200", "AMD EPYC (2 cores)"
  virtual std::string identity() const = 0;             // what measured choices depend on: name, architecture, driver
  virtual bool host_addressable() const = 0;            // whether the host may dereference this memory

  virtual void* allocate(std::size_t bytes) = 0;        // 256-byte aligned; throws memory_error
  virtual void deallocate(void* p, std::size_t bytes) noexcept = 0;
  virtual memory_figures memory() const = 0;
  virtual void trim() noexcept = 0;                     // returns cached blocks to the system; waits for the device
  virtual void reset_peak() noexcept = 0;               // memory().peak is from now on that since here

  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;  // returns when `from` may be reused
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;    // synchronous
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;            // same device, ordered with launches

  /// Finds or compiles what the launches need (all of a flush at once, so that a miss compiles one module). Nothing runs
  /// yet; throws compile_error. results[i] belongs to launches[i] and stays valid for the process.
  virtual void prepare(std::span<const launch> launches, std::span<const prepared*> results) = 0;
  /// Scratch bytes that run() will ask for.
  virtual std::size_t scratch_bytes(const prepared&, const launch&) const = 0;
  /// Enqueues one launch; `scratch` has scratch_bytes() bytes.
  virtual void run(const prepared&, const launch&, void* scratch) = 0;

  virtual void synchronize() = 0;                       // waits; does not look at the fault flag
  /// Synchronises; reads and clears the flag. Of an index out of range, the first one that was met goes to *index.
  virtual data_fault take_fault(bad_index* index) = 0;
  data_fault take_fault() { return take_fault(nullptr); }
  virtual std::string source(const launch&) = 0;        // generated source, for explain; empty where there is none
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
};

/// The backend of a device, created on first use; throws device_error that names what was tried.
backend& get_backend(device_id id);
/// SINTER_DEVICE if set ("cpu", "cuda", "cuda:1"), else the first GPU, else the CPU.
device_id default_device();
void set_default_device(device_id id);
int device_count(device_kind kind);
/// Why there is no device of a kind; empty where there is one.
std::string why_no_device(device_kind kind);
device_id parse_device(std::string_view text);
std::string to_string(device_id id);

/// Memory of one backend, freed to it on destruction.
class buffer {
 public:
  buffer(backend& owner, std::size_t bytes);
  /// Memory that the backend can work on but has not made. `keep` is let go when the device has finished with it.
  /// fixed: its elements never change, so nothing may be written in its place.
  buffer(backend& owner, void* data, std::size_t bytes, std::shared_ptr<void> keep, bool fixed);
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  backend& owner() const noexcept { return *owner_; }
  bool fixed() const noexcept { return fixed_; }

 private:
  backend* owner_;
  void* data_;
  std::size_t bytes_;
  std::shared_ptr<void> keep_;  // of foreign memory
  bool foreign_ = false, fixed_ = false;
};

}  // namespace sinter::runtime
