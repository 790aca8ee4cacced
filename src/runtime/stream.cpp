// The order between streams: timeline values, events, and up to where streams have waited for each other.
#include "runtime/stream.hpp"

#include <algorithm>
#include <typeinfo>

#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

std::size_t next_id() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1);
}

}  // namespace

std::mutex& order_mutex() noexcept {
  static auto* m = new std::mutex;  // outlives static arrays
  return *m;
}

stream_use& use_list::of(stream& s) {
  const auto found = std::find_if(uses.begin(), uses.end(), [&](const stream_use& u) { return u.on == &s; });
  if (found != uses.end()) return *found;
  uses.push_back({&s, 0, 0});
  return uses.back();
}

void use_list::join(const use_list& other) {
  for (const stream_use& u : other.uses) {
    stream_use& mine = of(*u.on);
    mine.written = std::max(mine.written, u.written);
    mine.used = std::max(mine.used, u.used);
  }
}

void use_notes::add(const void* address, bool written) {
  for (note& n : notes)
    if (n.address == address) {
      n.written |= written;
      return;
    }
  notes.push_back({address, written});
}

bool use_notes::writes(const void* address) const noexcept {
  return std::any_of(notes.begin(), notes.end(), [&](const note& n) { return n.address == address && n.written; });
}

stream::stream(backend& owner, int number, bool host) noexcept
    : owner_(&owner), number_(number), host_(host), id_(next_id()) {}

timeline_value stream::cover(timeline_value t) {
  if (covered_ == unknown_value) return last();
  if (t != unknown_value && t <= covered_) return covered_;
  if (notes())
    throw device_error(
        "[stream] an array that a capture is computing was used outside of it, before the capture's end");
  // Work outside of submissions has no value. It gets one here: by the last value alone, a stream that waited for it before
  // that work would take it as covered.
  if (t == unknown_value) state_.fetch_add(one_value);
  // Read before the event is recorded, which therefore covers all submissions that had ended.
  const std::uint64_t state = state_.load();
  const bool none_open = (state & (one_value - 1)) == 0;
  record_event();
  if (!none_open) return 0;  // submissions with values below t may be open: the event serves this caller only
  return covered_ = std::max(covered_, state >> open_bits);
}

timeline_value stream::wait_for(stream& before, timeline_value t) {
  if (t == 0 || &before == this || before.host_) return 0;
  if (waited_.size() <= before.id_) waited_.resize(before.id_ + 1);
  timeline_value& known = waited_[before.id_];
  if (t != unknown_value && t <= known) return known;
  const timeline_value covered = before.cover(t);
  if (typeid(*this) == typeid(before)) wait_event(before);
  else before.await_event();  // they have no events in common
  known = std::max(known, std::min(before.covered_, before.last()));
  return covered;
}

void stream::seal() {
  record_event();
  covered_ = unknown_value;
}

void stream::unseal() noexcept {
  const std::lock_guard lock(order_mutex());
  covered_ = last();
  waited_.clear();
}

void stream::await(timeline_value t) {
  if (t == 0 || host_) return;
  {
    const std::lock_guard lock(order_mutex());
    cover(t);
  }
  await_event();  // another thread may have recorded it again: then this waits a little longer
}

void stream::hold_others(void* theirs, timeline_value t) {
  if (t == 0 || host_ || theirs == native()) return;
  const std::lock_guard lock(order_mutex());
  cover(t);
  hold_at_event(theirs);
}

}  // namespace sinter::runtime
