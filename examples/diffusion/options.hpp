// The command line of the example.
#pragma once
#include <cstdint>
#include <string>

#include "diffusion/steps.hpp"

namespace diffusion {

enum class method { slices, raw, all };

struct options {
  std::int64_t size = 2000;
  int steps = 1000;
  diffusion::method method = method::all;
  diffusion::border border = border::reflecting;
  std::string device;  // empty: sinter's default
  std::string output;  // empty: no picture is written
  bool help = false;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace diffusion
