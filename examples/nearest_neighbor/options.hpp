// The command line of the example.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "knn.hpp"

namespace nearest_neighbor {

struct options {
  std::string method = "broadcast";
  std::string cities, airports;                   // input files
  std::string device;                             // empty: sinter's default
  std::string output;                             // empty: no table is written
  std::string map;                                // empty: no picture is drawn
  std::int64_t observations = 0, references = 0;  // both positive: synthetic points instead of the files
  int repeat = 1;
  int k = 8;                           // knn: neighbours of each point
  metric measure = metric::haversine;  // knn
  int dimensions = 2;                  // knn, of synthetic points
  int devices = 0;                     // multi_gpu, mesh: how many; 0: all
  bool fast_math = false, explain = false, help = false;

  bool every_method() const { return method == "all"; }
};

/// Bad use of the program: the message is all that the user needs.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace nearest_neighbor
