// The command line of the example.
#pragma once
#include <cstdint>
#include <string>

namespace ridge {

struct options {
  std::int64_t rows = 2000, columns = 3000;
  std::int64_t percent = 10;  // of the places have an entry
  std::int64_t parameters = 20;
  std::string device, output;  // empty: sinter's default; no picture
  bool help = false;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace ridge
