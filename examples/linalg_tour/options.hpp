// The command line of linalg_tour.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace linalg_tour {

struct options {
  std::vector<std::int64_t> sizes;   // rows, inner, columns; empty: the device's default
  std::int64_t side = 1000;          // of the square product
  std::int64_t order = 0;            // of matrices for qr and solve; 0: the device's default, as below
  std::int64_t spectral = 0;         // of matrices for svd and eigh
  std::int64_t plane = 0, line = 0;  // extents of what is transformed
  std::int64_t normals = 0;          // how many random numbers
  std::string device;                // empty: sinter's default
  int repeat = 10;
  bool help = false;
};

/// Throws examples::usage_error.
options parse_options(int count, const char* const* words);
std::string help_text();

}  // namespace linalg_tour
