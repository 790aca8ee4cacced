// What the example prints and writes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "places.hpp"

namespace nearest_neighbor {

/// Seconds of each phase.
struct timings {
  double reading = 0, uploading = 0, compiling = 0, searching = 0, downloading = 0;
};

/// The result in host memory.
struct result {
  std::vector<std::int64_t> index;
  std::vector<float> distance;  // km
};

/// 171075 as "171,075".
std::string grouped(std::int64_t n);

void print_timings(const timings& seconds, std::int64_t cities, std::int64_t airports, int repeat);
void print_summary(const places& cities, const places& airports, const result& found);

/// Writes one row a city, in input order. Throws input_error if the file cannot be written.
void write_table(const std::string& path, const places& cities, const places& airports, const result& found);
/// Throws input_error now rather than after the search if the file cannot be written.
void check_writable(const std::string& path);

}  // namespace nearest_neighbor
