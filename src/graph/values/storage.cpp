// Write locks of several storages, and the count of references to a version.
#include "graph/values/storage.hpp"

#include <algorithm>
#include <functional>

namespace sinter::graph {

bool is_sole_owner(const value& leaf) noexcept {
  return leaf->is_leaf() && leaf->refs.load(std::memory_order_acquire) == 1 && is_owned(leaf->buffer, 1);
}

write_locks::write_locks(std::vector<storage*> all) : all_(std::move(all)) {
  std::sort(all_.begin(), all_.end(), std::less<>());
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  for (storage* s : all_) s->writers_.lock();
}

write_locks::~write_locks() {
  for (storage* s : all_) s->writers_.unlock();
}

}  // namespace sinter::graph
