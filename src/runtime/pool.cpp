// The block cache: size classes, free lists for each stream, large blocks, limits and figures.
#include "runtime/pool.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

constexpr std::size_t smallest = 256;
constexpr std::size_t large_step = std::size_t{2} << 20;

std::size_t round_large(std::size_t bytes) noexcept { return (bytes + large_step - 1) / large_step * large_step; }

/// What was freed in the order of `home` may still be in use there, as far as other streams are concerned.
use_list* with_home(use_list* uses, stream* home) {
  if (!home || home->is_host()) return uses;
  if (!uses) uses = new use_list;
  uses->of(*home).used = some_ticket;
  return uses;
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

pool::lane& pool::other_lane(std::size_t number, stream* s) {
  if (lanes_.size() <= number) lanes_.resize(number + 1);
  if (!lanes_[number]) {
    lanes_[number] = std::make_unique<lane>();
    lanes_[number]->of = s;
  }
  return *lanes_[number];
}

/// Calls f(lane) for every lane of a stream.
template <class F>
void pool::each_lane(F f) const {
  f(const_cast<lane&>(default_lane_));
  for (const auto& l : lanes_)
    if (l) f(*l);
}

std::size_t pool::lane::free_bytes() const noexcept {
  std::size_t sum = 0;
  for (int c = 0; c < class_count; ++c) sum += small[c].size() * class_bytes(c);
  for (const auto& [size, b] : large) sum += size;
  return sum;
}

void pool::count(lane& l, std::size_t size) noexcept {
  l.used += size;
  l.peak = std::max(l.peak, l.used);
  used_ += size;
  peak_ = std::max(peak_, used_);
  ++allocations_;
}

void pool::uncount(lane& l, std::size_t size) noexcept {
  l.used -= size;
  used_ -= size;
}

void* pool::allocate(std::size_t bytes, stream*& home, use_list*& uses) {
  const std::lock_guard lock(mutex_);
  if (home->number() == 0) default_lane_.of = home;
  const block b = take(bytes, lane_of(home->number(), home));
  uses = b.uses;
  return b.p;
}

void* pool::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return take(bytes, default_lane_).p;
}

pool::block pool::take(std::size_t bytes, lane& mine) {
  if (bytes >= options_.large) return take_large(bytes, mine);
  const int c = class_of(bytes);
  std::size_t size = class_bytes(c);
  block b;
  if (auto& list = mine.small[c]; !list.empty()) [[likely]] {
    b = list.back();
    list.pop_back();
  } else {
    b = find(c, mine, size, bytes);
  }
  count(mine, size);
  return b;
}

pool::block pool::take_large(std::size_t bytes, lane& mine) {
  if (bytes > SIZE_MAX - large_step) exhausted(bytes);
  std::size_t size = round_large(bytes);
  block b;
  if (!reuse(mine, -1, size, b)) b = find(-1, mine, size, bytes);
  live_large_.emplace(b.p, size);
  count(mine, size);
  return b;
}

bool pool::reuse(lane& from, int size_class, std::size_t& size, block& out) {
  if (size_class >= 0) {
    auto& list = from.small[size_class];
    if (list.empty()) return false;
    out = list.back();
    list.pop_back();
  } else {
    const auto found = from.large.lower_bound(size);
    if (found == from.large.end() || found->first - size > size / 4) return false;
    size = found->first;
    out = found->second;
    from.large.erase(found);
    kept_large_ -= size;
  }
  return true;
}

pool::block pool::find(int size_class, const lane& mine, std::size_t& size, std::size_t asked) {
  block found;
  if (reuse(orphans_, size_class, size, found)) return found;
  found.p = obtain(size);
  if (found.p) return found;
  each_lane([&](lane& other) {
    if (found.p || &other == &mine || !reuse(other, size_class, size, found)) return;
    found.uses = with_home(found.uses, other.of);
  });
  if (found.p) return found;
  trim_locked();
  found.p = obtain(size);
  if (!found.p) exhausted(asked);
  return found;
}

void* pool::obtain(std::size_t size) {
  if (size > options_.limit || reserved_ > options_.limit - size) return nullptr;
  void* p = source_->allocate(size);
  if (p) reserved_ += size;
  return p;
}

// The source has waited for its own device. Copies of other devices may still be at work on the block.
void pool::release(const block& b, std::size_t size) noexcept {
  const std::unique_ptr<use_list> uses(b.uses);
  for (const stream_use& u : uses ? uses->uses : std::vector<stream_use>()) {
    try {
      u.on->await(u.used);
    } catch (...) {  // a device that has failed works on nothing
    }
  }
  source_->release(b.p, size);
  reserved_ -= size;
}

void pool::deallocate(void* p, std::size_t bytes, stream& home, use_list* uses) noexcept {
  const std::lock_guard lock(mutex_);
  give({p, uses}, bytes, lane_of(home.number(), &home), &home);
}

void pool::deallocate(void* p, std::size_t bytes) noexcept {
  if (!p) return;
  const std::lock_guard lock(mutex_);
  give({p, nullptr}, bytes, default_lane_, nullptr);
}

void pool::give(block b, std::size_t bytes, lane& mine, stream* home) noexcept {
  if (bytes >= options_.large) return give_large(b, mine, home);
  const int c = class_of(bytes);
  const std::size_t size = class_bytes(c);
  uncount(mine, size);
  try {
    if (home && home->is_closed()) [[unlikely]] {
      b.uses = with_home(b.uses, home);
      orphans_.small[c].push_back(b);
    } else {
      mine.small[c].push_back(b);
    }
  } catch (...) {  // the list could not grow: the block goes back instead
    source_->synchronize();
    release(b, size);
  }
}

void pool::give_large(block b, lane& mine, stream* home) noexcept {
  const auto found = live_large_.find(b.p);
  if (found == live_large_.end()) return;
  const std::size_t size = found->second;
  live_large_.erase(found);
  uncount(mine, size);
  const bool orphan = home && home->is_closed();
  try {
    if (kept_large_ + size <= options_.keep_large) {
      if (orphan) b.uses = with_home(b.uses, home);
      (orphan ? orphans_ : mine).large.emplace(size, b);
      kept_large_ += size;
      return;
    }
  } catch (...) {
  }
  // Giving memory back waits for the device.
  source_->synchronize();
  release(b, size);
}

void pool::orphan_blocks(stream& from) noexcept {
  const std::lock_guard lock(mutex_);
  const auto k = static_cast<std::size_t>(from.number());
  if (k == 0 || k >= lanes_.size() || !lanes_[k]) return;
  lane& source = *lanes_[k];
  try {
    for (int c = 0; c < class_count; ++c)
      for (; !source.small[c].empty(); source.small[c].pop_back()) {
        block& b = source.small[c].back();
        b.uses = with_home(b.uses, &from);
        orphans_.small[c].push_back(b);
      }
    for (; !source.large.empty(); source.large.erase(source.large.begin())) {
      block& b = source.large.begin()->second;
      b.uses = with_home(b.uses, &from);
      orphans_.large.emplace(source.large.begin()->first, b);
    }
  } catch (const std::bad_alloc&) {  // what is left stays with the stream until the next trim
  }
}

void pool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void pool::trim_locked() noexcept {
  source_->synchronize();
  const auto empty = [&](lane& l) {
    for (int c = 0; c < class_count; ++c) {
      for (const block& b : l.small[c]) release(b, class_bytes(c));
      l.small[c].clear();
    }
    for (const auto& [size, b] : l.large) release(b, size);
    l.large.clear();
  };
  each_lane(empty);
  empty(orphans_);
  kept_large_ = 0;
}

void pool::set_limit(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  options_.limit = bytes;
}

void pool::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  peak_ = used_;
  each_lane([](lane& l) { l.peak = l.used; });
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
  const lane* l = k == 0 ? &default_lane_ : k < lanes_.size() ? lanes_[k].get() : nullptr;
  f.used = l ? l->used : 0;
  f.reserved = l ? l->used + l->free_bytes() : 0;
  f.peak = l ? l->peak : 0;
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

std::size_t parse_memory_limit(std::string_view text, std::size_t total, const char* where) {
  const auto trim = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  };
  const auto refuse = [&] {
    throw value_error("[" + std::string(where) + "] '" + std::string(text) +
                      "' is no amount of memory: use 8GiB, 500 MB, 1073741824, or a part of the memory like 0.5");
  };
  std::string_view rest = trim(text);
  if (rest.empty()) return SIZE_MAX;
  double number = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (status != std::errc() || !std::isfinite(number) || number <= 0) refuse();
  rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
  struct unit {
    std::string_view name;
    double bytes;
  };
  constexpr unit units[] = {{"B", 1},      {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12},
                            {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  double bytes = number;
  if (rest.empty()) {
    if (number <= 1) bytes = number * static_cast<double>(total);
  } else {
    const auto* found = std::find_if(std::begin(units), std::end(units), [&](const unit& u) { return u.name == rest; });
    if (found == std::end(units)) refuse();
    bytes *= found->bytes;
  }
  if (bytes < 1 || bytes >= 0x1p63) refuse();
  return static_cast<std::size_t>(bytes);
}

}  // namespace sinter::runtime
