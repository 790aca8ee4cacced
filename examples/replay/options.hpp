// The command line of the example.
#pragma once
#include <cstdint>
#include <string>

namespace replay {

struct options {
  std::int64_t points = 4096, side = 512;
  int steps = 1000;
  std::string device;  // empty: sinter's default
  bool help = false;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace replay
