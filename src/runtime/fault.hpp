// Errors that kernels find in data: an index out of range, a parameter that a distribution does not allow. They are
// found while kernels run, on a GPU long after their launch, and concern the elements written and all that is computed
// from them. So each launch that may find an error has a fault, to which the memory that it writes refers.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/program/fault_words.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::runtime {

/// What may go wrong inside a kernel.
enum class data_fault : int {
  none = 0,
  index_out_of_range = 1,
  negative_integer_power = 2,
  random_parameter = 3,
  user_index = 4
};

/// An index out of range: its value, the axis that it indexes, that axis' extent.
struct bad_index {
  int axis = 0;
  std::int64_t value = 0, extent = 0;
  bool of_statement = false;  // of a write that wrote nothing for that reason
  jit::bad_access access;     // of user_index, instead of the others
};
/// Added to the axis of a write's own indices.
inline constexpr int statement_axis = 1024;

/// Decodes the words that kernels write (jit::fault_words).
data_fault read_fault(const int* words, bad_index* index) noexcept;

class backend;
class fault_log;

/// What one launch has found. Referred to by all memory that depends on what the launch wrote.
class fault {
 public:
  ~fault();
  fault(const fault&) = delete;
  fault& operator=(const fault&) = delete;

  /// Where the kernel writes its words.
  int* address() const noexcept { return address_; }
  data_fault read(bad_index* index = nullptr) const;
  /// Certain once the launch has been waited for.
  bool is_raised() const { return read() != data_fault::none; }
  /// Takes over the words: the launch has been waited for, so they are final.
  void resolve();
  bool is_resolved() const noexcept { return resolved_.load(std::memory_order_acquire); }

  /// Thrown before; synchronize() does not throw it again.
  std::atomic<bool> reported{false};
  /// The kernel's name where each launch is waited for. Set before other threads can read it.
  std::string kernel;

 private:
  friend class fault_log;
  explicit fault(fault_log& log) noexcept : log_(log), address_(own_) {}
  fault_log& log_;
  int slot_ = -1;  // in the log; -1: the words are in own_. Both guarded by the log's mutex
  int* address_;
  std::atomic<bool> resolved_{true};
  int own_[jit::fault_words] = {};
};
using fault_ref = std::shared_ptr<fault>;
using fault_list = std::vector<fault_ref>;

/// Adds the faults that are not in `to`.
void add_faults(fault_list& to, const fault_list& from);

/// The faults of a device's launches. Thread safe, but launches of one device begin one after the other.
class fault_log {
 public:
  /// For an asynchronous device: `count` records of slot_words ints, by their host and their device address. Without
  /// them the words are stored in the faults.
  void use_slots(int* host, int* device, int count, backend& owner);
  static constexpr int slot_words = 8;

  /// For the next launch. Where all records are in use it waits for the device, which ends their use.
  fault_ref begin();
  /// Keeps what a launch has found for take_unreported().
  void keep(fault_ref f);
  /// The first fault that has not been thrown so far, null if none; all others are marked as reported.
  fault_ref take_unreported();

 private:
  friend class fault;
  struct slot {
    std::weak_ptr<fault> owner;
    bool used = false;
    bool retired = false;   // the fault is gone, but its launch may still run
    bool reported = false;  // of a retired one
  };
  int find_free() const noexcept;
  void resolve_all();
  void release(int slot) noexcept;
  int* host(int slot) const noexcept { return host_ + slot * slot_words; }
  fault_ref copy_of_retired(int slot);

  mutable std::mutex mutex_;
  std::vector<slot> slots_;
  int *host_ = nullptr, *device_ = nullptr;
  backend* owner_ = nullptr;
  fault_list kept_;
};

}  // namespace sinter::runtime
