// Arrays that a kernel writes during a search: their contents are saved, restored and compared.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/run/array.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// The tolerance of comparisons; exact, bit for bit, where no value is given.
struct result_tolerance {
  std::optional<double> rtol, atol;
  bool exact() const noexcept { return !rtol && !atol; }
};

/// Where two arrays of one dtype and shape differ: bool. Exact comparison: different bits, except that any NaN equals
/// any NaN. With a tolerance: floating-point and complex numbers that differ by more than atol + rtol * |reference|.
ndarray mismatch(const ndarray& x, const ndarray& reference, const result_tolerance& tolerance);

class sample_arrays {
 public:
  /// An argument's number, for messages, and its array.
  struct entry {
    int number;
    ndarray array;
  };
  /// Evaluates the arrays and copies their whole storages, each once.
  sample_arrays(const std::vector<entry>& arrays, const result_tolerance& tolerance);

  /// Restores the original contents of every storage, in place: enqueued in stream order.
  void restore();
  /// The present contents become the reference.
  void keep();
  /// Compares with the reference; empty if nothing differs, else a description: "argument 2 (float32, shape (8,)) in 3
  /// of 8 elements, first at 4: 2.5 instead of 3.". Synchronises.
  std::string difference() const;

 private:
  struct sample {
    int number;
    graph::view_ref whole;      // the whole storage
    graph::view_ref original;   // a copy
    graph::view_ref reference;  // a copy
  };
  std::vector<sample> samples_;
  result_tolerance tolerance_;
};

}  // namespace sinter::ops
