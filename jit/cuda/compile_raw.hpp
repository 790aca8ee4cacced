// Compilation of users' CUDA C++.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace sinter::jit {

struct raw_program {
  std::string source;
  std::string file;                         // the source's path; empty for text in the program
  std::vector<std::string> options, names;  // NVRTC's options; name expressions
  bool fast_math = false;
  int arch = 90;  // compute capability: 90 for sm_90a, 75 for sm_75
};
struct raw_binary {
  std::vector<char> bytes;  // a cubin; PTX if the options request a virtual architecture
  std::string log;
  std::vector<std::pair<std::string, std::string>> names;  // each name expression with its name in the compiled code
  bool from_disk = false;
};
/// Compiles with NVRTC through the disk cache, whose key covers the text of every file that the source may include
/// outside of the toolkit. The toolkit's headers are on the search path if they are found. Throws compile_error, with
/// NVRTC's log and the user's numbered source, and device_error if NVRTC cannot be loaded. Needs no GPU.
raw_binary compile_raw(const raw_program& p);

}  // namespace sinter::jit
