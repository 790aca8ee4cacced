#include "ops/base/deferred_work.hpp"

namespace sinter::ops {

std::optional<ndarray> follow_deferred(jit::opcode op, const operand& x, const operand* y) {
  if (graph::is_capturing()) return {};
  for (const operand* o : {&x, y}) {
    if (!o || !o->is_array()) continue;
    const std::shared_ptr<deferred_work> work = deferred_work_of(o->array());
    if (!work) continue;
    if (auto later = work->followed_by(op, ndarray_access::unresolved(o->array()), x, y))
      return defer(std::move(later));
  }
  return {};
}

}  // namespace sinter::ops
