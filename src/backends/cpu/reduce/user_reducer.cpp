// The table of users' monoids.
#include "backends/cpu/reduce/user_reducer.hpp"

#include <mutex>
#include <unordered_map>

namespace sinter::cpu {

user_reducer::user_reducer(const jit::user_reduction* monoid) : compiled_code(true), monoid_(monoid) {
  steps_.bytes[0] = monoid->value.opaque.empty() ? jit::lane_bytes(monoid->value.type) : jit::opaque_bytes;
  steps_.bytes[1] = steps_.bytes[0];
  steps_.planes = 2;
  steps_.any_order = false;
  steps_.by_groups = true;
}

std::vector<std::string> user_reducer::functions(const std::string& name) const {
  std::vector<std::string> all;
  for (const char* step : {"_reset", "_row", "_join_lanes", "_columns", "_close_columns", "_close", "_join", "_finish"})
    all.push_back(name + step);
  return all;
}

void user_reducer::install(std::span<void* const> addresses) noexcept {
  steps_.reset = reinterpret_cast<decltype(steps_.reset)>(addresses[0]);
  steps_.row = reinterpret_cast<decltype(steps_.row)>(addresses[1]);
  steps_.join_lanes = reinterpret_cast<decltype(steps_.join_lanes)>(addresses[2]);
  steps_.columns = reinterpret_cast<decltype(steps_.columns)>(addresses[3]);
  steps_.close_columns = reinterpret_cast<decltype(steps_.close_columns)>(addresses[4]);
  steps_.close = reinterpret_cast<decltype(steps_.close)>(addresses[5]);
  steps_.join = reinterpret_cast<decltype(steps_.join)>(addresses[6]);
  steps_.finish = reinterpret_cast<decltype(steps_.finish)>(addresses[7]);
}

user_reducer& find_user_reducer(const jit::user_reduction* monoid) {
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<const jit::user_reduction*, std::unique_ptr<user_reducer>>;
  const std::lock_guard lock(mutex);
  auto& slot = table[monoid];
  if (!slot) slot = std::make_unique<user_reducer>(monoid);
  return *slot;
}

const reducer& reducer_of(const jit::program& p, const jit::reduce_desc& r) {
  return r.op == jit::reduce_op::user ? find_user_reducer(p.combines[r.inner]).steps() : find_reducer(r.op, r.arg);
}

}  // namespace sinter::cpu
