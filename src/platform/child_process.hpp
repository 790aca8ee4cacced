// Programs that are run without a shell, for a limited time.
#pragma once
#include <string>
#include <vector>

namespace sinter::platform {

struct process_result {
  int start_error = 0;     // errno where the program could not be started
  int exit_status = 0;     // -1 where the process's parent discards it (SIGCHLD ignored)
  int signal = 0;          // what ended it, if anything
  bool timed_out = false;  // it was killed, with its process group
  std::string output;      // both outputs; of long ones the beginning
};
/// Runs a program and waits, for at most `seconds` (0: for ever): standard input is empty, temporary files go to
/// `folder`, messages are in English.
process_result run_process(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, long seconds);

}  // namespace sinter::platform
