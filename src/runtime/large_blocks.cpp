// The map of large blocks, which are split and joined. Entries of shelves are made with the blocks and kept while those
// are in use, so that only taking a block allocates host memory.
#include "runtime/large_blocks.hpp"

#include <memory>
#include <new>

namespace sinter::runtime {

large_blocks::by_size::node_type large_blocks::make_entry() {
  by_size one{{0, nullptr}};
  return one.extract(one.begin());
}

void large_blocks::put_on(shelf& s, piece& x, char* p) noexcept {
  x.entry.value() = {x.size, p};
  s.blocks_.insert(std::move(x.entry));
  s.bytes_ += x.size;
  free_bytes_ += x.size;
  x.on = &s;
}

void large_blocks::take_off(piece& x, char* p) noexcept {
  x.entry = x.on->blocks_.extract({x.size, p});
  x.on->bytes_ -= x.size;
  free_bytes_ -= x.size;
  x.on = nullptr;
}

void large_blocks::add(void* p, std::size_t size) {
  pieces_.emplace(static_cast<char*>(p), piece{size, true, nullptr, nullptr, make_entry()});
}

bool large_blocks::take(shelf& from, std::size_t& size, bool may_cut, free_block& out) {
  const auto found = from.blocks_.lower_bound({size, nullptr});
  if (found == from.blocks_.end()) return false;
  const auto at = pieces_.find(static_cast<char*>(found->second));
  piece& x = at->second;
  if (x.size - size > size / 4) {
    if (!may_cut) return false;
    cut(at, size);
  }
  take_off(x, at->first);
  size = x.size;
  out = {at->first, std::exchange(x.uses, nullptr)};
  return true;
}

/// Splits a free block; the first part has `size` bytes. Both parts keep the record of pending uses.
void large_blocks::cut(pieces::iterator at, std::size_t size) {
  piece& x = at->second;
  char* const p = at->first;
  shelf& s = *x.on;
  auto uses = x.uses ? std::make_unique<use_list>(*x.uses) : nullptr;
  auto entry = make_entry();
  const auto rest = pieces_.emplace_hint(std::next(at), p + size, piece{x.size - size, false, nullptr, nullptr, {}});
  // Nothing fails from here on.
  rest->second.entry = std::move(entry);
  rest->second.uses = uses.release();
  take_off(x, p);
  x.size = size;
  put_on(s, x, p);
  put_on(s, rest->second, p + size);
}

std::size_t large_blocks::size_of(void* p) const noexcept {
  const auto at = pieces_.find(static_cast<char*>(p));
  return at == pieces_.end() || at->second.on ? 0 : at->second.size;
}

void* large_blocks::give(const free_block& b, shelf& to) noexcept {
  const auto at = pieces_.find(static_cast<char*>(b.p));
  at->second.uses = b.uses;
  put_on(to, at->second, at->first);
  join_next(at);
  if (at->second.begins) return b.p;
  const auto before = std::prev(at);
  return join_next(before) ? before->first : b.p;
}

/// Joins the block and the next one, if both are free for the same stream.
bool large_blocks::join_next(pieces::iterator at) noexcept {
  const auto next = std::next(at);
  piece& x = at->second;
  if (next == pieces_.end() || next->second.begins || !x.on || next->second.on != x.on) return false;
  std::unique_ptr<use_list> uses(next->second.uses);
  next->second.uses = nullptr;
  try {
    if (!x.uses) x.uses = uses.release();
    else if (uses) x.uses->join(*uses);
  } catch (const std::bad_alloc&) {  // they stay separate
    next->second.uses = uses.release();
    return false;
  }
  shelf& s = *x.on;
  take_off(next->second, next->first);
  take_off(x, at->first);
  x.size += next->second.size;
  put_on(s, x, at->first);
  pieces_.erase(next);
  return true;
}

std::size_t large_blocks::remove(void* p, use_list*& uses) noexcept {
  const auto at = pieces_.find(static_cast<char*>(p));
  const auto next = std::next(at);
  if (!at->second.begins || !at->second.on || (next != pieces_.end() && !next->second.begins)) return 0;
  const std::size_t size = at->second.size;
  uses = at->second.uses;
  take_off(at->second, at->first);
  pieces_.erase(at);
  return size;
}

}  // namespace sinter::runtime
