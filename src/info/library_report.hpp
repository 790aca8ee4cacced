// The libraries that are opened when they are needed: where each was found, or where it was looked for.
#pragma once
#include <string>
#include <vector>

#include "platform/optional_library.hpp"

namespace sinter::info {

struct library_state {
  std::string title, soname;
  std::string path;     // of the opened file; empty: it could not be opened
  std::string problem;  // then: the folders searched, and the dynamic linker's message
  std::string version;  // of MPI and NCCL, or why they cannot be used
};

/// Opens the first candidate. Needs none of its functions.
library_state look_for(const platform::library_place& place);
/// Of everything that the library may open, in the order in which it is to be shown.
std::vector<library_state> look_for_libraries();

}  // namespace sinter::info
