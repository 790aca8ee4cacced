// The block cache: size classes, free lists, large blocks and figures.
#include "runtime/pool.hpp"

#include <algorithm>
#include <bit>

#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

constexpr std::size_t smallest = 256;
constexpr std::size_t large_step = std::size_t{2} << 20;

std::size_t round_large(std::size_t bytes) noexcept { return (bytes + large_step - 1) / large_step * large_step; }

}  // namespace

pool::pool(std::unique_ptr<memory_source> source, options o) : source_(std::move(source)), options_(std::move(o)) {}

pool::~pool() { trim(); }

// Class c holds blocks of smallest * 2^(c/4) * (1 + (c%4)/4), rounded to multiples of 256 for the first octaves.
std::size_t pool::class_bytes(int c) noexcept {
  std::size_t octave = smallest << (c / 4);
  std::size_t bytes = octave + octave / 4 * static_cast<std::size_t>(c % 4);
  return (bytes + smallest - 1) / smallest * smallest;
}

int pool::class_of(std::size_t bytes) noexcept {
  if (bytes <= smallest) return 0;
  int octave = std::bit_width((bytes - 1) / smallest) - 1;  // smallest << octave < bytes or equal to it
  std::size_t base = smallest << octave;
  int step = static_cast<int>((bytes - base + base / 4 - 1) / (base / 4));
  return 4 * octave + step;
}

void pool::count(std::size_t bytes) noexcept {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  ++allocations_;
}

void* pool::allocate(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  return bytes < options_.large ? allocate_small(bytes) : allocate_large(bytes);
}

void* pool::allocate_small(std::size_t bytes) {
  int c = class_of(bytes);
  auto& list = free_[c];
  std::size_t block = class_bytes(c);
  void* p;
  if (!list.empty()) {
    p = list.back();
    list.pop_back();
  } else {
    p = obtain(block, bytes);
  }
  count(block);
  return p;
}

void* pool::allocate_large(std::size_t bytes) {
  if (bytes > SIZE_MAX - large_step) exhausted(bytes);
  std::size_t block = round_large(bytes);
  void* p;
  auto found = free_large_.lower_bound(block);
  if (found != free_large_.end() && found->first - block <= block / 4) {
    block = found->first;
    p = found->second;
    free_large_.erase(found);
    kept_large_ -= block;
  } else {
    p = obtain(block, bytes);
  }
  live_large_.emplace(p, block);
  count(block);
  return p;
}

void* pool::obtain(std::size_t block, std::size_t asked) {
  void* p = source_->allocate(block);
  if (!p) {
    trim_locked();
    p = source_->allocate(block);
  }
  if (!p) exhausted(asked);
  reserved_ += block;
  return p;
}

void pool::deallocate(void* p, std::size_t bytes) noexcept {
  if (!p) return;
  std::lock_guard lock(mutex_);
  if (bytes >= options_.large) return deallocate_large(p);
  int c = class_of(bytes);
  used_ -= class_bytes(c);
  try {
    free_[c].push_back(p);
  } catch (...) {  // the list could not grow: the block goes back instead
    source_->release(p, class_bytes(c));
    reserved_ -= class_bytes(c);
  }
}

void pool::deallocate_large(void* p) noexcept {
  auto found = live_large_.find(p);
  if (found == live_large_.end()) return;
  std::size_t block = found->second;
  live_large_.erase(found);
  used_ -= block;
  try {
    if (kept_large_ + block <= options_.keep_large) {
      free_large_.emplace(block, p);
      kept_large_ += block;
      return;
    }
  } catch (...) {
  }
  source_->release(p, block);
  reserved_ -= block;
}

void pool::trim() noexcept {
  std::lock_guard lock(mutex_);
  trim_locked();
}

void pool::trim_locked() noexcept {
  source_->synchronize();
  for (int c = 0; c < class_count; ++c) {
    for (void* p : free_[c]) {
      source_->release(p, class_bytes(c));
      reserved_ -= class_bytes(c);
    }
    free_[c].clear();
  }
  for (auto& [bytes, p] : free_large_) {
    source_->release(p, bytes);
    reserved_ -= bytes;
  }
  free_large_.clear();
  kept_large_ = 0;
}

memory_figures pool::figures() const noexcept {
  std::lock_guard lock(mutex_);
  memory_figures f;
  f.used = used_;
  f.reserved = reserved_;
  f.peak = peak_;
  f.available = source_->available() + (reserved_ - used_);
  return f;
}

void pool::reset_peak() noexcept {
  std::lock_guard lock(mutex_);
  peak_ = used_;
}

std::uint64_t pool::allocations() const noexcept {
  std::lock_guard lock(mutex_);
  return allocations_;
}

void pool::exhausted(std::size_t asked) const {
  throw memory_error("[allocate] " + options_.name + " is exhausted: " + std::to_string(asked) + " bytes asked for, " +
                     std::to_string(used_) + " in use, " + std::to_string(reserved_) + " held, peak " +
                     std::to_string(peak_) + ", " + std::to_string(source_->available()) + " available");
}

}  // namespace sinter::runtime
