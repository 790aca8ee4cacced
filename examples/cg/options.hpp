// The command line of the example.
#pragma once
#include <cstdint>
#include <string>

namespace cg {

struct options {
  std::int64_t size = 4096;
  double tolerance = 1e-10;
  int every = 5;
  std::string device;  // empty: sinter's default
  bool help = false;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace cg
