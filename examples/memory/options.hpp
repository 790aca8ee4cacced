// The command line of the example.
#pragma once
#include <cstdint>
#include <string>

namespace memory {

struct options {
  std::int64_t size = 16'000'000;
  std::string device;  // empty: sinter's default
  bool help = false;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace memory
