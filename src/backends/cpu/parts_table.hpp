// What launches with wrapped reads run as, kept from one launch to the next of the same geometry.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/cpu/prepared_table.hpp"
#include "jit/program/launch.hpp"
#include "platform/hash.hpp"

namespace sinter::cpu {

/// What a launch whose rolled operands are read plainly runs as (kernels/segments.hpp): parts of an elementwise one, a reduction
/// as a whole.
struct launch_parts {
  std::vector<jit::launch> parts;  // of one whose operands begin at address 0
  std::vector<runtime::prepared*> code;
  std::vector<std::int64_t> elements;  // that each computes: none where rows are copied
  bool others_aside = false;           // plain_parts::others_aside

  /// With the operands and scalars of a launch.
  std::vector<jit::launch> of(const jit::launch& l) const;
};

/// Finding parts takes some microseconds, as long as a small kernel. Threads may share it.
class parts_table {
 public:
  explicit parts_table(prepared_table& code) : code_(code) {}
  /// Null: the launch runs as it is. Launches that the table does not keep are divided for themselves.
  std::shared_ptr<const launch_parts> find(const jit::launch& l);

 private:
  std::shared_ptr<const launch_parts> made_for(const jit::launch& l);

  prepared_table& code_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const launch_parts>, platform::bytes_hash> entries_;
};

}  // namespace sinter::cpu
