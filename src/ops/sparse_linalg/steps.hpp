// The numbers of an iteration that has many of them (the rotations and estimates of lsmr, lsqr, minres). They are computed by one
// text, `number_steps.inl`: compiled into the library for the CPU, where they are at hand, and as a kernel of one thread
// elsewhere, so that a step takes one launch for them and the host learns nothing of it.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sinter/device.hpp"
#include "sinter/kernel.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// What advances numbers: `advance` from a step's a and b on, `test` from c on. Structures of float64 alone, the first of them
/// `status`: 0 while the iteration goes on.
struct number_program {
  const char* name;  // of its structure, and with `_advance` and `_test` of its functions
  std::size_t count;
  void (*advance)(double* numbers, double a, double b);
  void (*test)(double* numbers, double c);
};
extern const number_program lsmr_program, lsqr_program, minres_program;

/// What one kernel does to a step's vectors after its numbers, which each thread computes for itself: parameters ("T v, T x" and "T
/// new_x"), declarations made from the numbers `k`, and statements for an element.
struct vectors_text {
  const char *inputs, *outputs, *factors, *body;
};

class number_steps {
 public:
  /// `late`: by kernels, and the test of a step with the advance of the next one. `vectors`: with these in the same kernel, which takes
  /// a late iteration.
  number_steps(const number_program& program, const double* initial, const device& on, bool late,
               const vectors_text* vectors = nullptr);
  /// Number `index` as an array of rank 0, as it is now.
  ndarray operator[](std::size_t index) const { return now_(static_cast<std::int64_t>(index)); }
  void advance(const ndarray& a, const ndarray& b);
  /// The same with the vectors, three or four that go in; returns those that come out.
  std::vector<ndarray> advance(const ndarray& a, const ndarray& b, std::span<const ndarray> vectors);
  void test(const ndarray& c);
  /// The numbers, all tests done; waits.
  void read(double* numbers);

 private:
  void run(int mode, const ndarray& a, const ndarray& b, const ndarray& c);
  ndarray unset() const;
  const number_program& program_;
  bool late_;
  ndarray now_;
  std::optional<elementwise_kernel> kernel_, with_vectors_;
  ndarray untested_;  // what a test waits for
};

}  // namespace sinter::ops
