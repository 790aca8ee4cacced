// Kernels of rows that are joined beside the same ones apart, and their plans.
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "golden/golden.hpp"
#include "graph/run/explain.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace sinter::test::rows {

/// The CPU joins kernels over few elements, too.
struct staging {
  staging() { set(0); }
  ~staging() { set(-1); }
  static void set(std::int64_t bytes) { cpu::set_least_staged(bytes); }
};

struct restore_limits {
  graph::planner_limits saved = graph::limits();
  ~restore_limits() { graph::limits() = saved; }
};

inline std::vector<graph::value> values_of(const std::vector<ndarray>& arrays) {
  std::vector<graph::value> values;
  for (const ndarray& x : arrays) values.push_back(ops::value_of(x));
  return values;
}
inline void evaluate(const std::vector<ndarray>& arrays) { graph::flush(values_of(arrays)); }

/// Evaluates what `record` records, together.
using recorder = std::function<std::vector<ndarray>()>;
inline std::vector<ndarray> evaluated(const recorder& record, bool fuse) {
  const staging all_sizes;
  const restore_limits limits;
  graph::limits().fuse = fuse;
  std::vector<ndarray> all = record();
  evaluate(all);
  return all;
}

inline auto bytes_of(const ndarray& x) { return test::download(x).bytes; }

inline void check_bits(const recorder& record) {
  const std::vector<ndarray> joined = evaluated(record, true), separate = evaluated(record, false);
  for (std::size_t k = 0; k < joined.size(); ++k) {
    CAPTURE(k);
    CHECK(joined[k].shape() == separate[k].shape());
    CHECK(joined[k].dtype() == separate[k].dtype());
    CHECK((bytes_of(joined[k]) == bytes_of(separate[k])));
  }
}

inline std::string plan_of(const recorder& record) {
  const staging all_sizes;
  return graph::describe(values_of(record()), false);
}

}  // namespace sinter::test::rows
