// Real and imaginary parts that can be assigned to: `x.imag() = e`. Included by ndarray.hpp.
#pragma once
#include <utility>

#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// The real or imaginary parts of an array. While it is a temporary, assignment writes them to the array, and indices give the
/// same of a part of it; the other parts stay. The write records and fuses. Once it has a name it is an array like any other.
class complex_part : public ndarray {
 public:
  complex_part(const complex_part&) = default;
  complex_part(complex_part&&) = default;

  /// A temporary: `e` is converted as by astype. dtype_error for the imaginary parts of real numbers; else as of a subarray.
  const complex_part& operator=(const operand& e) &&;
  const complex_part& operator=(const complex_part& e) &&;
  const complex_part& operator+=(const operand& e) &&;
  const complex_part& operator-=(const operand& e) &&;
  const complex_part& operator*=(const operand& e) &&;
  const complex_part& operator/=(const operand& e) &&;
  template <index_like... I>
  complex_part operator()(const I&... i) const&& {
    return {ndarray::operator()(i...), whole_(i...), imaginary_};
  }
  complex_part operator[](const subscript& s) const&&;
  complex_part operator[](const index& i) const&&;

  // A name: it is rebound, and indexed as every array.
  complex_part& operator=(const ndarray& o) & {
    ndarray::operator=(o);
    return *this;
  }
  complex_part& operator=(const complex_part& o) & {
    ndarray::operator=(static_cast<const ndarray&>(o));
    return *this;
  }
  template <scalar_like T>
  complex_part& operator=(T) & = delete;
  template <index_like... I>
  subarray operator()(const I&... i) const& {
    return ndarray::operator()(i...);
  }
  subarray operator[](const subscript& s) const& { return ndarray::operator[](s); }
  subarray operator[](const index& i) const& { return ndarray::operator[](i); }
  using ndarray::operator+=;
  using ndarray::operator-=;
  using ndarray::operator*=;
  using ndarray::operator/=;

 private:
  friend class ndarray;
  friend class subarray;
  complex_part(const ndarray& parts, ndarray whole, bool imaginary)
      : ndarray(parts), whole_(std::move(whole)), imaginary_(imaginary) {}
  ndarray whole_;
  bool imaginary_;
};

}  // namespace sinter::inline v0
