// Replaces the view whose text precedes every raw source.
#pragma once

namespace sinter {

template <class T, int N>
struct strided {
  T* data;
  long long shape[N], strides[N];
  T& operator()(long long i) const { return data[i * strides[0]]; }
  long long size() const { return shape[0]; }
};

}  // namespace sinter
