// The command line of the example.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace nearest_neighbor {

struct options {
  std::string cities, airports;                    // input files
  std::string device;                              // empty: sinter's default
  std::string output;                              // empty: no table is written
  std::int64_t observations = 0, references = 0;   // both positive: synthetic points instead of the files
  int repeat = 1;
  bool fast_math = false, explain = false, help = false;
};

/// Bad use of the program: the message is all that the user needs.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace nearest_neighbor
