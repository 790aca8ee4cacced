// Prints the figures and writes the table of the search.
#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

namespace nearest_neighbor {
namespace {

using file_ptr = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void cannot_write(const std::string& path) {
  throw input_error("cannot write " + path + ": " + std::strerror(errno));
}

file_ptr open_for_writing(const std::string& path, const char* mode) {
  file_ptr file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file) cannot_write(path);
  return file;
}

void print_seconds(const char* what, double seconds) { std::printf("%-12s %.4f s\n", what, seconds); }

}  // namespace

std::string grouped(std::int64_t n) {
  const auto digits = std::to_string(n);
  std::string out;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) out += ',';
    out += digits[k];
  }
  return out;
}

void print_timings(const timings& seconds, std::int64_t cities, std::int64_t airports, int repeat) {
  print_seconds("reading", seconds.reading);
  print_seconds("uploading", seconds.uploading);
  print_seconds("compiling", seconds.compiling);
  std::printf("%-12s %.6f s%s\n", "searching", seconds.searching,
              repeat > 1 ? (" (median of " + std::to_string(repeat) + ")").c_str() : "");
  print_seconds("downloading", seconds.downloading);
  const double pairs = static_cast<double>(cities) * static_cast<double>(airports);
  std::printf("%-12s %.4g per second\n", "pairs", pairs / seconds.searching);
}

void print_summary(const places& cities, const places& airports, const result& found) {
  const auto& d = found.distance;
  const double mean = std::accumulate(d.begin(), d.end(), 0.0) / static_cast<double>(d.size());
  const auto far = std::max_element(d.begin(), d.end()) - d.begin();
  const auto country = cities.country(far);
  std::printf("%-12s %.3f km\n", "mean", mean);
  std::printf("%-12s %s%s, %.1f km from %s\n", "farthest", cities.name(far).c_str(),
              country.empty() ? "" : (" (" + country + ")").c_str(),
              static_cast<double>(d[static_cast<std::size_t>(far)]),
              airports.name(found.index[static_cast<std::size_t>(far)]).c_str());
}

void check_writable(const std::string& path) { open_for_writing(path, "a"); }

void write_table(const std::string& path, const places& cities, const places& airports, const result& found) {
  auto file = open_for_writing(path, "w");
  std::fputs("city,country,airport_index,airport,distance_km\n", file.get());
  for (std::int64_t i = 0; i < cities.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::fprintf(file.get(), "%s,%s,%lld,%s,%.4f\n", cities.name(i).c_str(), cities.country(i).c_str(),
                 static_cast<long long>(found.index[at]), airports.name(found.index[at]).c_str(),
                 static_cast<double>(found.distance[at]));
  }
  const bool failed = std::ferror(file.get()) != 0;
  if (std::fclose(file.release()) != 0 || failed) cannot_write(path);
}

}  // namespace nearest_neighbor
