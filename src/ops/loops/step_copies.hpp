// Elements of arrays in the host's memory that a captured step takes and gives, as blocks to be copied.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

inline char* address_of(const value& leaf) {
  return static_cast<char*>(leaf->buffer->address()) +
         leaf->buffer_offset * static_cast<std::int64_t>(itemsize(leaf->type));
}

struct block_copy {
  void* to;
  const void* from;
  std::size_t bytes;
};
/// Most are single numbers.
inline void copy_block(void* to, const void* from, std::size_t bytes) {
  if (bytes == 8) std::memcpy(to, from, 8);
  else if (bytes) std::memcpy(to, from, bytes);
}
inline void copy_all(const std::vector<block_copy>& all) {
  for (const block_copy& c : all) copy_block(c.to, c.from, c.bytes);
}

template <class Void>
Void* next_block(Void* at, std::size_t bytes, bool backwards) {
  const auto here = reinterpret_cast<std::uintptr_t>(at);
  return reinterpret_cast<Void*>(backwards ? here - bytes : here + bytes);
}

/// Elements of an array along its first axis.
struct blocks {
  value leaf;
  char* begin;
  std::size_t bytes;  // of an element
  char* at(std::int64_t k) const { return begin + static_cast<std::size_t>(k) * bytes; }

  blocks(value v, std::int64_t count)
      : leaf(std::move(v)), begin(address_of(leaf)), bytes(leaf->bytes() / static_cast<std::size_t>(count)) {}
};

}  // namespace sinter::ops
