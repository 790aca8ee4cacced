// Kernels of loops that are run again for other arrays: the passes of derivatives, which a program takes again and again. What a
// kernel computes follows from what its steps do and from nothing else, so it is kept by the text that says that.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinter/loops.hpp"
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// A pass: a scan whose step records the same each time, and does nothing besides, wherever `key` is the same. It reads the
/// carry, the elements, these constants and numbers that the key determines.
struct loop_pass {
  using list = std::vector<ndarray>;
  std::string key;  // empty: kernels are not kept
  std::vector<value> constants;
  std::function<std::pair<list, list>(const list& carry, const list& elements)> step;
  std::vector<std::size_t> note;  // what a call of the step has noted; set by a run

  /// The last carry, and the outputs of all steps. Nothing where no kernel is kept or made.
  std::optional<std::pair<list, list>> run(const list& from, const list& xs, const scan_loop_kw& kw);
};

}  // namespace sinter::ops
