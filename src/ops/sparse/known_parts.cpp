// Index arrays that have been checked before.
#include <algorithm>
#include <array>
#include <memory>

#include "ops/sparse/parts.hpp"
#include "platform/per_thread.hpp"

namespace sinter::ops {
namespace {

/// Sparse arrays whose index arrays were handed out last on a thread.
struct handed_out {
  std::array<std::weak_ptr<const sparse_state>, 8> states;
  std::size_t next = 0;
};
handed_out& latest() { return platform::per_thread<handed_out, sparse_state>::get(); }

bool are_one(const std::weak_ptr<const sparse_state>& a, const state_ref& b) noexcept {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

void note_handed_out(const state_ref& s) {
  handed_out& all = latest();
  if (std::any_of(all.states.begin(), all.states.end(), [&](const auto& seen) { return are_one(seen, s); })) return;
  all.states[all.next] = s;
  all.next = (all.next + 1) % all.states.size();
}

state_ref checked_before(const ndarray& indices, const ndarray& indptr) {
  const value places = value_of(indices), ends = value_of(indptr);
  for (const auto& seen : latest().states) {
    state_ref s = seen.lock();
    if (s && is_compressed(*s) && value_of(s->second) == places && value_of(s->first) == ends) return s;
  }
  return nullptr;
}

}  // namespace sinter::ops
