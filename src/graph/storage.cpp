// Turns of several storages, and who refers to a version.
#include "graph/storage.hpp"

#include <algorithm>
#include <functional>

namespace sinter::graph {

bool storage::is_sole_owner() const noexcept {
  const node& n = *current_;
  return n.is_leaf() && n.refs.load(std::memory_order_acquire) == 1 && n.buffer.use_count() == 1 && !n.buffer->fixed();
}

turns::turns(std::vector<storage*> all) : all_(std::move(all)) {
  std::sort(all_.begin(), all_.end(), std::less<>());
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  for (storage* s : all_) s->writers_.lock();
}

turns::~turns() {
  for (storage* s : all_) s->writers_.unlock();
}

}  // namespace sinter::graph
