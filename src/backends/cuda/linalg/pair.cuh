// Complex elements in device code, and what real and complex ones have in common. It includes nothing, so that tests can run it
// without a GPU.
#pragma once

namespace sinter::cuda::device {

template <class R>
struct pair {
  R re, im;
};

template <class T>
__device__ T conjugate(T a) {
  return a;
}
template <class R>
__device__ pair<R> conjugate(pair<R> a) {
  return {a.re, -a.im};
}
template <class R>
__device__ pair<R> operator+(pair<R> a, pair<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
__device__ pair<R> operator-(pair<R> a, pair<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
__device__ pair<R> operator-(pair<R> a) {
  return {-a.re, -a.im};
}
template <class R>
__device__ pair<R> operator*(pair<R> a, pair<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <class T>
__device__ T number_of(int v, T*) {
  return static_cast<T>(v);
}
template <class R>
__device__ pair<R> number_of(int v, pair<R>*) {
  return {static_cast<R>(v), R{0}};
}

}  // namespace sinter::cuda::device
