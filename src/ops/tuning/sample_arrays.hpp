// Arrays that a kernel writes while it is tried out: their contents are kept, restored and compared.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/run/array.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// How far results may lie apart; bit for bit where nothing is given.
struct result_tolerance {
  std::optional<double> rtol, atol;
  bool exact() const noexcept { return !rtol && !atol; }
};

/// Where two arrays of one dtype and shape differ: bool. Exactly: other bits, but any NaN equals any NaN. With a
/// tolerance: floating-point and complex numbers further apart than atol + rtol * |reference|.
ndarray mismatch(const ndarray& x, const ndarray& reference, const result_tolerance& tolerance);

class sample_arrays {
 public:
  /// An argument's number, for messages, and its array.
  struct entry {
    int number;
    ndarray array;
  };
  /// Evaluates the arrays and copies the storages that they are views of, whole, each once.
  sample_arrays(const std::vector<entry>& arrays, const result_tolerance& tolerance);

  /// Gives every storage the contents that it had at first, in place: enqueued, in the order of launches.
  void restore();
  /// The present contents become the reference.
  void keep();
  /// Compares with the reference; empty if nothing differs, else what does: "argument 2 (float32, shape (8,)) in 3 of 8
  /// elements, first at 4: 2.5 instead of 3.". Synchronises.
  std::string difference() const;

 private:
  struct sample {
    int number;
    graph::view_ref whole;      // all of the storage
    graph::view_ref original;   // a copy
    graph::view_ref reference;  // a copy
  };
  std::vector<sample> samples_;
  result_tolerance tolerance_;
};

}  // namespace sinter::ops
