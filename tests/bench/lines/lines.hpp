// Lines of array code as a user writes them (lines.def): what the table has, and the functions that record them.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "../bench.hpp"

namespace bench {

using results = std::vector<ndarray>;
/// Records a line once; what it returns is evaluated together.
using recorded_line = std::function<results()>;

/// Extents of a line's inputs, as lines.def names them.
struct sizes {
  std::int64_t n = 1, m = 1, k = 1;
};

struct line {
  const char* name;
  sizes on_gpu, on_cpu, small;
  double gpu_goal, cpu_goal;  // ms; 0 where there is none
  const char* numpy;
  recorded_line (*prepare)(const sizes&);  // makes the inputs
  bool host;                               // what counts is the host's time
};

/// Those of lines.def, of everyday.def and of further.def.
const std::vector<line>& lines();
const std::vector<line>& everyday_lines();
const std::vector<line>& further_lines();

/// Evaluates all of them in one call; at most four.
void eval_together(const results& list);

inline const sn::reduce_kw keep{.keepdims = true};

/// numbers() of another dtype.
ndarray typed(const sn::shape_t& shape, double low, double high, sn::dtype type);

/// A copy in memory.
inline ndarray evaluated(const ndarray& x) {
  ndarray y = x.copy();
  sn::eval(y);
  return y;
}

/// Numbers in [0, 1) of 2^31 - 1 different ones, float32, in no apparent order; those of lines.py.
ndarray scattered(const sn::shape_t& shape);

}  // namespace bench
