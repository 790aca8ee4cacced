// The caching allocator: size classes, an arena for each stream, limits and figures. large_blocks.cpp has large blocks.
#include "runtime/pool.hpp"

#include <algorithm>
#include <bit>

#include "runtime/sanitizer.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

constexpr std::size_t smallest = 256;
constexpr std::size_t large_step = std::size_t{2} << 20;

std::size_t round_large(std::size_t bytes) noexcept { return (bytes + large_step - 1) / large_step * large_step; }

/// Adds the owner's own pending work, which other streams must wait for, to the uses of a block that it has freed.
use_list* with_owner(use_list* uses, stream* owner) {
  if (!owner || owner->is_host()) return uses;
  if (!uses) uses = new use_list;
  uses->of(*owner).used = unknown_value;
  return uses;
}

/// The source has waited for its own device, but copies of other devices may still use the block.
void await_uses(use_list* uses) noexcept {
  const std::unique_ptr<use_list> done(uses);
  if (!uses) return;
  for (const stream_use& u : uses->uses) {
    try {
      u.on->await(u.used);
    } catch (...) {  // a failed device runs nothing
    }
  }
}

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

pool::arena& pool::other_arena(std::size_t number, stream* s) {
  if (arenas_.size() <= number) arenas_.resize(number + 1);
  if (!arenas_[number]) {
    arenas_[number] = std::make_unique<arena>();
    arenas_[number]->of = s;
  }
  return *arenas_[number];
}

/// Calls f(arena) for the arena of every stream.
template <class F>
void pool::each_arena(F f) const {
  f(const_cast<arena&>(default_arena_));
  for (const auto& a : arenas_)
    if (a) f(*a);
}

std::size_t pool::arena::free_bytes() const noexcept {
  std::size_t sum = 0;
  for (int c = 0; c < class_count; ++c) sum += small[c].size() * class_bytes(c);
  return sum + large.bytes();
}

void pool::count(arena& a, std::size_t size) noexcept {
  a.used += size;
  a.peak = std::max(a.peak, a.used);
  used_ += size;
  peak_ = std::max(peak_, used_);
  ++allocations_;
}

void pool::uncount(arena& a, std::size_t size) noexcept {
  a.used -= size;
  used_ -= size;
}

void* pool::allocate(std::size_t bytes, stream*& owner, use_list*& uses) {
  const std::lock_guard lock(mutex_);
  if (owner->number() == 0) default_arena_.of = owner;
  const free_block b = take(bytes, arena_of(owner->number(), owner));
  uses = b.uses;
  return b.p;
}

void* pool::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return take(bytes, default_arena_).p;
}

free_block pool::take(std::size_t bytes, arena& mine) {
  if (bytes >= options_.large) return take_large(bytes, mine);
  const int c = class_of(bytes);
  std::size_t size = class_bytes(c);
  free_block b;
  const auto reuse = [c](arena& from, free_block& out) {
    auto& list = from.small[c];
    if (list.empty()) return false;
    out = list.back();
    list.pop_back();
    return true;
  };
  if (!reuse(mine, b)) [[unlikely]] {
    if (!reuse(orphans_, b) && !(b.p = obtain(size)) && !take_from_others(mine, b, reuse)) {
      trim_locked();
      if (!(b.p = obtain(size))) b = take_part(size, mine, bytes);
    }
  }
  if (options_.host) allow_bytes(b.p, bytes, size);
  count(mine, size);
  return b;
}

free_block pool::take_large(std::size_t bytes, arena& mine) {
  if (bytes > SIZE_MAX - large_step) exhausted(bytes);
  std::size_t size = round_large(bytes);
  free_block b;
  if (!large_.take(mine.large, size, false, b) && !large_.take(orphans_.large, size, false, b) &&
      !(b.p = obtain_large(size)) && !take_free_large(mine, size, b)) {
    trim_locked();
    if (!(b.p = obtain_large(size))) exhausted(bytes);
  }
  if (options_.host) allow_bytes(b.p, bytes, size);
  count(mine, size);
  return b;
}

/// A small request served by a large block: nothing can be released, since every allocation has a block in use.
free_block pool::take_part(std::size_t& size, arena& mine, std::size_t asked) {
  size = round_large(size);
  free_block b;
  if (!take_free_large(mine, size, b)) exhausted(asked);
  ++parts_;
  return b;
}

template <class Take>
bool pool::take_from_others(const arena& mine, free_block& out, Take take) {
  bool found = false;
  each_arena([&](arena& other) {
    if (found || &other == &mine || !take(other, out)) return;
    found = true;
    out.uses = with_owner(out.uses, other.of);
  });
  return found;
}

bool pool::take_free_large(arena& mine, std::size_t& size, free_block& out) {
  if (large_.take(mine.large, size, true, out) || large_.take(orphans_.large, size, true, out)) return true;
  return take_from_others(mine, out,
                          [&](arena& from, free_block& b) { return large_.take(from.large, size, true, b); });
}

void* pool::obtain(std::size_t size) {
  if (size > options_.limit || reserved_ > options_.limit - size) return nullptr;
  void* p = source_->allocate(size);
  if (p) reserved_ += size;
  return p;
}

void* pool::obtain_large(std::size_t size) {
  void* p = obtain(size);
  if (!p) return p;
  try {
    large_.add(p, size);
  } catch (...) {
    give_back(p, size);
    throw;
  }
  return p;
}

void pool::give_back(void* p, std::size_t size) noexcept {
  if (options_.host) allow_bytes(p, size, size);
  source_->release(p, size);
  reserved_ -= size;
}

void pool::release(const free_block& b, std::size_t size) noexcept {
  await_uses(b.uses);
  give_back(b.p, size);
}

void pool::deallocate(void* p, std::size_t bytes, stream& owner, use_list* uses) noexcept {
  const std::lock_guard lock(mutex_);
  give({p, uses}, bytes, arena_of(owner.number(), &owner), &owner);
}

void pool::deallocate(void* p, std::size_t bytes) noexcept {
  if (!p) return;
  const std::lock_guard lock(mutex_);
  give({p, nullptr}, bytes, default_arena_, nullptr);
}

void pool::give(free_block b, std::size_t bytes, arena& mine, stream* owner) noexcept {
  const bool is_large = bytes >= options_.large;
  if (is_large || parts_ != 0) [[unlikely]] {
    const std::size_t size = large_.size_of(b.p);
    if (!is_large && size != 0) --parts_;
    if (is_large || size != 0) return give_large(b, size, mine, owner);
  }
  const int c = class_of(bytes);
  const std::size_t size = class_bytes(c);
  uncount(mine, size);
  if (options_.host) allow_bytes(b.p, 0, size);
  try {
    if (owner && owner->is_closed()) [[unlikely]] {
      b.uses = with_owner(b.uses, owner);
      orphans_.small[c].push_back(b);
    } else {
      mine.small[c].push_back(b);
    }
  } catch (...) {  // the list could not grow: the block is released instead
    source_->synchronize();
    release(b, size);
  }
}

void pool::give_large(free_block b, std::size_t size, arena& mine, stream* owner) noexcept {
  uncount(mine, size);
  if (options_.host) allow_bytes(b.p, 0, size);
  const bool orphan = owner && owner->is_closed();
  if (orphan) {
    try {
      b.uses = with_owner(b.uses, owner);
    } catch (...) {  // the stream's pending work cannot be recorded, so it is waited for
      source_->synchronize();
    }
  }
  void* const p = large_.give(b, (orphan ? orphans_ : mine).large);
  if (large_.free_bytes() <= options_.keep_large) return;
  use_list* uses = nullptr;
  const std::size_t all = large_.remove(p, uses);
  if (all == 0) return;    // other blocks of the same allocation are in use
  source_->synchronize();  // memory that is released must not be in use
  release({p, uses}, all);
}

void pool::orphan_blocks(stream& from) noexcept {
  const std::lock_guard lock(mutex_);
  const auto k = static_cast<std::size_t>(from.number());
  if (k == 0 || k >= arenas_.size() || !arenas_[k]) return;
  arena& source = *arenas_[k];
  try {
    for (int c = 0; c < class_count; ++c)
      for (; !source.small[c].empty(); source.small[c].pop_back()) {
        free_block& b = source.small[c].back();
        b.uses = with_owner(b.uses, &from);
        orphans_.small[c].push_back(b);
      }
    large_.move(source.large, orphans_.large, [&](use_list* uses) { return with_owner(uses, &from); });
  } catch (const std::bad_alloc&) {  // what is left stays with the stream until the next trim
  }
}

void pool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void pool::trim_locked() noexcept {
  source_->synchronize();
  const auto empty = [&](arena& a) {
    for (int c = 0; c < class_count; ++c) {
      for (const free_block& b : a.small[c]) release(b, class_bytes(c));
      a.small[c].clear();
    }
  };
  each_arena(empty);
  empty(orphans_);
  large_.remove_free(&await_uses, [this](void* p, std::size_t size) { give_back(p, size); });
}

void pool::set_limit(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  options_.limit = bytes;
}

void pool::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  peak_ = used_;
  each_arena([](arena& a) { a.peak = a.used; });
}

memory_figures pool::figures() const noexcept {
  const std::lock_guard lock(mutex_);
  memory_figures f;
  f.used = used_;
  f.reserved = reserved_;
  f.peak = peak_;
  f.limit = options_.limit;
  const std::size_t room = options_.limit - std::min(options_.limit, used_);
  f.available = std::min(source_->available() + (reserved_ - used_), room);
  return f;
}

memory_figures pool::figures(int stream_number) const noexcept {
  memory_figures f = figures();
  const std::lock_guard lock(mutex_);
  const auto k = static_cast<std::size_t>(stream_number);
  const arena* a = k == 0 ? &default_arena_ : k < arenas_.size() ? arenas_[k].get() : nullptr;
  f.used = a ? a->used : 0;
  f.reserved = a ? a->used + a->free_bytes() : 0;
  f.peak = a ? a->peak : 0;
  return f;
}

std::uint64_t pool::allocations() const noexcept {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

void pool::exhausted(std::size_t asked) const {
  std::string limit;
  if (options_.limit != SIZE_MAX) limit = ", limit " + std::to_string(options_.limit);
  throw memory_error("[allocate] " + options_.name + " is exhausted: " + std::to_string(asked) + " bytes asked for, " +
                     std::to_string(used_) + " in use, " + std::to_string(reserved_) + " held, peak " +
                     std::to_string(peak_) + ", " + std::to_string(source_->available()) + " available" + limit);
}

}  // namespace sinter::runtime
