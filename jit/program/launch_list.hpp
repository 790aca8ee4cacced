// Launches that recur together.
#pragma once

namespace sinter::jit {

/// What a device keeps of launches that come again, one after the other, with the same kernels: the caller's, between runtime::backend::begin_list()
/// and the next one.
class launch_list {
 public:
  virtual ~launch_list() = default;
};

}  // namespace sinter::jit
