// Arrays over foreign memory.
#pragma once
#include <memory>

#include "graph/run/array.hpp"

namespace sinter::interop {

struct foreign_memory {
  const char* function;  // for messages
  void* data = nullptr;
  dtype type{};
  core::dims shape, strides;  // in elements
  runtime::device_id device{};
  memory_kind kind = memory_kind::device;
  bool readonly = false;
  bool live = true;  // other code may change the elements
};

/// Wraps memory that is ready in the order of the calling thread's current stream. Throws value_error, shape_error and
/// device_error, as documented for sinter::from_pointer. An array without elements does not use the memory. `keep` is
/// released when there are no more references to the memory and the streams that have used it are idle.
graph::view_ref wrap_memory(const foreign_memory& m, std::shared_ptr<void> keep);

/// Releases something exactly once, and only if it was armed: until then the caller still owns it.
template <class Release>
class armed_release {
 public:
  explicit armed_release(Release release) : release_(std::move(release)) {}
  ~armed_release() {
    if (armed_) release_();
  }
  armed_release(const armed_release&) = delete;
  armed_release& operator=(const armed_release&) = delete;
  void arm() noexcept { armed_ = true; }

 private:
  Release release_;
  bool armed_ = false;
};

}  // namespace sinter::interop
