// Buffers: memory that returns to its backend, or to whoever lent it, when the last reference goes.
#include "runtime/backend.hpp"

namespace sinter::runtime {

buffer::buffer(backend& owner, std::size_t bytes) : owner_(&owner), data_(owner.allocate(bytes)), bytes_(bytes) {}

buffer::buffer(backend& owner, void* data, std::size_t bytes, std::shared_ptr<void> keep, bool fixed)
    : owner_(&owner), data_(data), bytes_(bytes), keep_(std::move(keep)), foreign_(true), fixed_(fixed) {}

buffer::~buffer() {
  if (!foreign_) {
    owner_->deallocate(data_, bytes_);
  } else if (keep_) {
    // The backend's own blocks are reused in the order of its launches; others know nothing of that order.
    try {
      owner_->synchronize();
    } catch (...) {  // a device that has failed works on nothing
    }
  }
}

}  // namespace sinter::runtime
