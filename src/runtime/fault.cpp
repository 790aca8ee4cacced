// Faults of launches, and the lifetime of their records.
#include "runtime/fault.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/backend.hpp"

namespace sinter::runtime {
namespace {

/// A word that a kernel may be writing.
int now(const int* word) noexcept { return std::atomic_ref<int>(*const_cast<int*>(word)).load(); }

constexpr std::size_t most_kept = 16;

}  // namespace

data_fault read_fault(const int* words, bad_index* index) noexcept {
  const auto found = static_cast<data_fault>(now(words));
  if (index && found == data_fault::user_index) {
    index->access.axis = (words[1] & 255) - 1;
    index->access.operand = words[1] >> 8;
    std::memcpy(&index->access.value, words + 2, sizeof index->access.value);
    std::memcpy(&index->access.extent, words + 4, sizeof index->access.extent);
    std::memcpy(&index->access.function, words + 6, sizeof index->access.function);
    index->of_statement = jit::was_write(index->access);
  } else if (index) {
    index->axis = -1 - words[1];  // see kernel_builder::lower_gather
    index->of_statement = found == data_fault::index_out_of_range && index->axis >= statement_axis;
    if (index->of_statement) index->axis -= statement_axis;
    std::memcpy(&index->value, words + 2, sizeof index->value);
    std::memcpy(&index->extent, words + 4, sizeof index->extent);
  }
  return found;
}

fault::~fault() {
  if (is_resolved()) return;
  const std::lock_guard lock(log_.mutex_);
  log_.slots_[static_cast<std::size_t>(slot_)].retired = true;
  log_.slots_[static_cast<std::size_t>(slot_)].reported = reported;
}

data_fault fault::read(bad_index* index) const {
  if (is_resolved()) return read_fault(own_, index);
  const std::lock_guard lock(log_.mutex_);
  return read_fault(slot_ < 0 ? own_ : log_.host(slot_), index);
}

void fault::resolve() {
  if (is_resolved()) return;
  const std::lock_guard lock(log_.mutex_);
  if (slot_ < 0) return;
  std::copy_n(log_.host(slot_), jit::fault_words, own_);
  log_.release(slot_);
  slot_ = -1;
  resolved_.store(true, std::memory_order_release);
}

void add_faults(fault_list& to, const fault_list& from) {
  for (const fault_ref& f : from)
    if (std::find(to.begin(), to.end(), f) == to.end()) to.push_back(f);
}

void fault_log::use_slots(int* host, int* device, int count, backend& owner) {
  std::fill_n(host, count * slot_words, 0);
  host_ = host;
  device_ = device;
  slots_.resize(static_cast<std::size_t>(count));
  owner_ = &owner;
}

int fault_log::find_free() const noexcept {
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (!slots_[k].used) return static_cast<int>(k);
  return -1;
}

void fault_log::release(int slot) noexcept {
  std::fill_n(host(slot), slot_words, 0);
  slots_[static_cast<std::size_t>(slot)] = {};
}

fault_ref fault_log::begin() {
  fault_ref f(new fault(*this));
  if (slots_.empty()) return f;
  std::unique_lock lock(mutex_);
  int free;
  while ((free = find_free()) < 0) {
    lock.unlock();
    owner_->synchronize();
    resolve_all();
    lock.lock();
  }
  slot& s = slots_[static_cast<std::size_t>(free)];
  s.used = true;
  s.owner = f;
  f->slot_ = free;
  f->address_ = device_ + free * slot_words;
  f->resolved_.store(false, std::memory_order_release);
  return f;
}

/// What a launch whose fault is gone has found. With the lock.
fault_ref fault_log::copy_of_retired(int slot) {
  fault_ref f(new fault(*this));
  std::copy_n(host(slot), jit::fault_words, f->own_);
  return f;
}

void fault_log::resolve_all() {
  fault_list held;  // destroyed after the lock, which ~fault() takes
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const int at = static_cast<int>(k);
      if (slots_[k].used && !slots_[k].retired) {
        if (fault_ref f = slots_[k].owner.lock()) {
          held.push_back(std::move(f));
          continue;
        }
      }
      if (!slots_[k].used) continue;
      if (now(host(at)) != 0 && !slots_[k].reported && kept_.size() < most_kept) kept_.push_back(copy_of_retired(at));
      if (slots_[k].retired) release(at);
    }
  }
  for (const fault_ref& f : held) {
    f->resolve();
    if (f->is_raised()) keep(f);
  }
}

void fault_log::keep(fault_ref f) {
  fault_list gone;
  const std::lock_guard lock(mutex_);
  for (fault_ref& k : kept_)
    if (k->reported) gone.push_back(std::move(k));
  std::erase(kept_, nullptr);
  if (kept_.size() < most_kept) kept_.push_back(std::move(f));
}

fault_ref fault_log::take_unreported() {
  fault_list found;
  {
    const std::lock_guard lock(mutex_);
    found.swap(kept_);
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      slot& s = slots_[k];
      if (!s.used || now(host(static_cast<int>(k))) == 0) continue;
      if (fault_ref f = s.owner.lock()) {
        found.push_back(std::move(f));
      } else if (!s.reported) {
        found.push_back(copy_of_retired(static_cast<int>(k)));
        s.reported = true;
      }
    }
  }
  fault_ref first;
  for (const fault_ref& f : found)
    if (!f->reported.exchange(true) && !first) first = f;
  return first;
}

}  // namespace sinter::runtime
