// Memory that belongs to captured work.
#include "graph/capture/memory.hpp"

#include <algorithm>
#include <utility>

#include "graph/run/ongoing_capture.hpp"

namespace sinter::graph {

capture_memory::capture_memory(runtime::backend& device, runtime::stream& owner) : device_(device), owner_(owner) {
  for (int k = 0; k < 3; ++k) {
    parts_[k].owner = this;
    parts_[k].of = static_cast<memory_kind>(k);
  }
}

namespace {

/// Uses of adopted memory: its earlier work is complete in the order of `owner`; work on another stream must wait for
/// it.
runtime::use_list* known_to(runtime::stream& owner) {
  return new runtime::use_list{{{&owner, runtime::unknown_value, runtime::unknown_value}}};
}

}  // namespace

bool capture_memory::owns(const runtime::buffer& b) const noexcept {
  return std::any_of(std::begin(parts_), std::end(parts_), [&](const part& p) { return b.source() == &p; });
}

/// Blocks need their source as long as a buffer holds them, even when all other references are gone.
void capture_memory::note_live() {
  if (live_++ == 0) self_ = shared_from_this();
}

void capture_memory::adopt(runtime::buffer& b) {
  const std::lock_guard lock(mutex_);
  const memory_kind kind = b.kind();
  const auto at = blocks_.try_emplace(b.address()).first;
  try {
    at->second = {std::make_unique<runtime::buffer>(device_, b.address(), b.bytes(), *b.source(), b.owner_stream()),
                  false, true};
  } catch (...) {
    blocks_.erase(at);
    throw;
  }
  note_live();
  b.hand_over(source(kind));
}

void* capture_memory::find_free(std::size_t bytes, memory_kind kind) {
  for (std::size_t k = free_.size(); k-- > 0;) {
    const runtime::buffer& b = *blocks_.at(free_[k]).memory;
    const bool fits =
        b.kind() == kind && b.bytes() >= bytes && b.bytes() - bytes <= std::max<std::size_t>(bytes / 4, 1024);
    if (!fits) continue;
    void* p = free_[k];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(k));
    return p;
  }
  return nullptr;
}

void* capture_memory::part::allocate(std::size_t bytes, runtime::stream*& owner_stream, runtime::use_list*& uses) {
  capture_memory& m = *owner;
  uses = nullptr;
  owner_stream = &m.owner_;
  {
    const std::lock_guard lock(m.mutex_);
    if (void* p = m.find_free(bytes, of)) {
      block& b = m.blocks_.at(p);
      if (b.adopted) uses = known_to(m.owner_);
      b.free = false;
      m.note_live();
      return p;
    }
  }
  std::unique_ptr<runtime::buffer> fresh;
  {
    const outside_capture now;
    fresh = std::make_unique<runtime::buffer>(m.device_, bytes, of);
    // Work of other streams on this memory must end before the captured work is launched, so it is waited for now.
    runtime::submission work(m.device_);
    work.writes(*fresh);
  }
  const std::lock_guard lock(m.mutex_);
  void* const p = fresh->address();
  m.blocks_[p] = {std::move(fresh), false, false};
  m.note_live();
  return p;
}

void capture_memory::part::deallocate(void* p, std::size_t, runtime::stream& owner_stream,
                                      runtime::use_list* handed_over) noexcept {
  capture_memory& m = *owner;
  std::unique_ptr<runtime::use_list> uses(handed_over);
  std::shared_ptr<capture_memory> last;  // destroyed after the lock is released
  std::unique_ptr<runtime::buffer> done;
  const std::lock_guard lock(m.mutex_);
  block& b = m.blocks_.at(p);
  b.free = true;
  try {
    // The block may outlive the stream that it is returned to.
    if (!uses) uses = std::make_unique<runtime::use_list>();
    uses->of(owner_stream).used = runtime::unknown_value;
    b.memory->join_uses(*uses);
    if (!m.closed_ && m.reserved_.count(p) == 0) m.free_.push_back(p);
  } catch (...) {  // allocating a list has failed: the block is not reused
  }
  if (m.closed_) {
    done = std::move(b.memory);
    m.blocks_.erase(p);
  }
  if (--m.live_ == 0) last = std::move(m.self_);
}

void capture_memory::reserve(const std::vector<void*>& addresses) {
  const std::lock_guard lock(mutex_);
  reserved_.insert(addresses.begin(), addresses.end());
  std::erase_if(free_, [&](void* p) { return reserved_.count(p) != 0; });
}

std::shared_ptr<runtime::buffer> capture_memory::take(void* address) {
  const std::unique_ptr<runtime::use_list> uses(known_to(owner_));
  std::shared_ptr<runtime::buffer> taken;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || !found->second.free) return nullptr;
    block& b = found->second;
    taken = std::make_shared<runtime::buffer>(device_, address, b.memory->bytes(), source(b.memory->kind()), owner_);
    b.free = false;
    std::erase(free_, address);
    note_live();
  }
  taken->join_uses(*uses);  // if that throws, the buffer's destructor returns the block, which takes the lock
  return taken;
}

void capture_memory::close() noexcept {
  // One at a time: collecting them would need an allocation.
  for (bool more = true; more;) {
    decltype(blocks_)::node_type done;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    closed_ = true;
    free_.clear();
    const auto at = std::find_if(blocks_.begin(), blocks_.end(), [](const auto& b) { return b.second.free; });
    more = at != blocks_.end();
    if (more) done = blocks_.extract(at);
  }
}

std::size_t capture_memory::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [p, b] : blocks_)
    if (!b.adopted) sum += b.memory->bytes();
  return sum;
}

}  // namespace sinter::graph
