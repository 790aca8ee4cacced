// A stream of the host whose work is captured, where what the library itself does is part of that work.
#pragma once
#include <functional>

namespace sinter::runtime {

class recording_stream {
 public:
  /// Each launch of the captured work calls it, in its turn.
  virtual void add(std::function<void()> call) = 0;

 protected:
  ~recording_stream() = default;
};

}  // namespace sinter::runtime
