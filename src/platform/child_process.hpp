// Programs that are run without a shell, with a time limit.
#pragma once
#include <string>
#include <vector>

namespace sinter::platform {

struct process_result {
  int start_error = 0;     // errno if the program could not be started
  int exit_status = 0;     // -1 if the process's parent discards it (SIGCHLD ignored)
  int signal = 0;          // the signal that ended it; 0: none
  bool timed_out = false;  // it was killed, with its process group
  std::string output;      // stdout and stderr; only the beginning if it is long
};
/// Runs a program and waits, for at most `seconds` (0: without limit): standard input is empty, temporary files go to
/// `folder`, messages are in English.
process_result run_process(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, long seconds);

}  // namespace sinter::platform
