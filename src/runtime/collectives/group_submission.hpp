// One submission on each device of a collective.
#pragma once
#include <memory>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"

namespace sinter::runtime {

/// All uses are declared, on all devices, before anything is enqueued: then each device comes after the work that was
/// there before, and none after another's share of this collective, though it may be in the same buffer.
class group_submission {
 public:
  /// `devices`: of the ranks; one may be several ranks'.
  explicit group_submission(const std::vector<backend*>& devices) {
    for (backend* const d : devices) {
      submission* known = nullptr;
      for (std::size_t k = 0; k < of_rank_.size(); ++k)
        if (devices[k] == d) known = of_rank_[k];
      if (!known) known = opened_.emplace_back(std::make_unique<submission>(*d)).get();
      of_rank_.push_back(known);
    }
  }
  submission& of(std::size_t local) noexcept { return *of_rank_[local]; }
  /// Declare; the address of the block, null if it is empty.
  char* reads(std::size_t local, const block& b) {
    return b.bytes == 0 ? nullptr : static_cast<char*>(of(local).reads(*b.memory)) + b.offset;
  }
  char* writes(std::size_t local, const block& b) {
    return b.bytes == 0 ? nullptr : static_cast<char*>(of(local).writes(*b.memory)) + b.offset;
  }

 private:
  std::vector<std::unique_ptr<submission>> opened_;
  std::vector<submission*> of_rank_;
};

}  // namespace sinter::runtime
