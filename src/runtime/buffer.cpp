// Buffers: memory that returns to its backend when the last reference goes.
#include "runtime/backend.hpp"

namespace sinter::runtime {

buffer::buffer(backend& owner, std::size_t bytes) : owner_(&owner), data_(owner.allocate(bytes)), bytes_(bytes) {}

buffer::~buffer() { owner_->deallocate(data_, bytes_); }

}  // namespace sinter::runtime
