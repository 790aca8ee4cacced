// A library in NCCL's place for simulated GPUs: it moves bytes on their queues as NCCL would, demands what NCCL demands
// of its callers (groups, equal sizes on both sides, all ranks in a call), and fails where a test says.
#pragma once
#include <string>
#include <vector>

#include "runtime/collectives/hooks.hpp"
#include "runtime/collectives/nccl_library.hpp"

namespace fake_nccl {

struct settings {
  std::vector<std::string> calls;  // in order: "AllGather rank 1 of 3, 24 of type 1"
  std::string fails;               // the function that returns `code`
  int code = 3;
  int async_error = 0;  // what ncclCommGetAsyncError reports
  int in_progress = 0;  // so many queries of it say that the communicator is in progress
  bool hangs = false;   // what is enqueued does not run before an abort
  int opened = 0, destroyed = 0, aborted = 0;
  std::string misuse;  // the first demand that a caller has not met
};
settings& now();
/// While the library's thread may call: reads, writes a number.
int aborted();
void set(int settings::*what, int value);
const sinter::runtime::nccl_api& api();

/// While it lives, the library uses the fake one.
struct in_place {
  in_place() {
    now() = {};
    sinter::runtime::set_nccl_for_tests(&api());
  }
  ~in_place() { sinter::runtime::set_nccl_for_tests(nullptr); }
};

}  // namespace fake_nccl
