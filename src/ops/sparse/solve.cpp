// Systems that a device solves itself.
#include "ops/base/device_solve.hpp"

#include <cmath>

#include "graph/run/mesh_hook.hpp"
#include "graph/values/faults.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sparse.hpp"

namespace sinter::ops {
namespace {

bool has_solver(const sparse_state& s, std::int64_t columns) {
  if (graph::is_on_mesh(device_of(s)) || index_for(s.rows, s.columns, entries_of(s)) != dtype::i32) return false;
  return kernels_of(s).solves({s.data.dtype(), dtype::i32, s.rows, s.columns, entries_of(s)}, columns);
}

/// Whether the residual of each right-hand side is what rounding leaves: libraries exchange rows within blocks only, or replace none of
/// the pivots that are small.
bool fits(const sparse_array& a, const ndarray& x, const ndarray& b) {
  const auto largest = [](const ndarray& z) { return max(abs(z), 0); };
  const double limit = 1024 * finfo(x.dtype()).eps;
  const ndarray of_b = largest(b), scale = max(sparse::abs(a).sum(1)) * largest(x) + of_b;
  return all((largest(b - a.dot(x)) <= limit * scale) | logical_not(isfinite(of_b))).item<bool>();
}

}  // namespace

std::optional<ndarray> solved_on_device(const sparse_array& a, const ndarray& b) {
  const std::int64_t columns = b.ndim() == 1 ? 1 : b.shape(1);
  if (b.device() != a.device() || !has_solver(*state_of(a, "spsolve"), columns)) return {};
  sparse_array rows = a.tocsr();
  rows.sum_duplicates();
  const state_ref s = with_index_dtype(state_of(rows, "spsolve"), dtype::i32);
  const dtype type = s->data.dtype();
  const double largest = max(abs(s->data)).item<double>();
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  const value right = own_memory(value_of(b.ndim() == 1 ? b : b.T())),
              x = unset_leaf(right->shape, type, right->device);
  const ready_matrix m = ready(*s, type);
  // What rounding leaves of a pivot that is 0.
  const double small = 16 * finfo(type).eps * std::sqrt(static_cast<double>(s->rows)) * largest;
  if (!kernels_of(*s).solve({m.matrix, columns, address_to_read(right), small}, address_to_write(x))) return {};
  m.pass_faults(x);
  graph::inherit_faults(x, {&right});
  const ndarray solution = b.ndim() == 1 ? wrap(x) : wrap(x).T().copy();
  if (!fits(rows, solution, b)) return {};
  return solution;
}

}  // namespace sinter::ops
