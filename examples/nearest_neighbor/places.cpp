// Reads the CSV files (no quotes: a line splits on commas) and makes random points.
#include "places.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <string_view>

namespace nearest_neighbor {
namespace {

/// Where we are in a file, for messages.
struct position {
  const std::string& path;
  std::int64_t line = 0;
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(path + ":" + std::to_string(line) + ": " + what);
  }
};

template <std::size_t N>
std::array<std::string_view, N> split(std::string_view line, const position& at) {
  std::array<std::string_view, N> fields;
  std::size_t count = 0, begin = 0;
  while (true) {
    const auto comma = line.find(',', begin);
    if (count < N) fields[count] = line.substr(begin, comma == line.npos ? comma : comma - begin);
    ++count;
    if (comma == line.npos) break;
    begin = comma + 1;
  }
  if (count != N) at.fail("expected " + std::to_string(N) + " fields, found " + std::to_string(count));
  return fields;
}

float radians(std::string_view text, const char* what, double limit, const position& at) {
  double degrees = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), degrees);
  if (failure != std::errc{} || end != text.data() + text.size())
    at.fail(std::string(what) + " '" + std::string(text) + "' is not a number");
  // Written so that NaN fails too.
  if (!(std::abs(degrees) <= limit))
    at.fail(std::string(what) + " " + std::string(text) + " is outside -" + std::to_string(int(limit)) + " to " +
            std::to_string(int(limit)) + " degrees");
  return static_cast<float>(degrees * (std::numbers::pi / 180));
}

/// The columns of a file and which of them are used.
struct layout {
  std::string_view header;
  std::size_t name, country, latitude, longitude;
};

template <std::size_t Fields>
places read(const std::string& path, const layout& columns) {
  std::ifstream file(path);
  if (!file) throw input_error("cannot read " + path + ": " + std::strerror(errno));
  places out;
  position at{path};
  std::string line;
  while (std::getline(file, line)) {
    ++at.line;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (at.line == 1) {
      if (line != columns.header) at.fail("expected the header '" + std::string(columns.header) + "'");
      continue;
    }
    const auto field = split<Fields>(line, at);
    out.names.emplace_back(field[columns.name]);
    out.countries.emplace_back(field[columns.country]);
    out.radians.push_back(radians(field[columns.latitude], "latitude", 90, at));
    out.radians.push_back(radians(field[columns.longitude], "longitude", 180, at));
  }
  if (file.bad() || (at.line == 0 && !file.eof()))
    throw input_error("cannot read " + path + ": " + std::strerror(errno));
  if (out.count() == 0) throw input_error(path + ": no rows");
  return out;
}

}  // namespace

double next_uniform(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

std::string places::name(std::int64_t i) const {
  return names.empty() ? "point " + std::to_string(i) : names[static_cast<std::size_t>(i)];
}

std::string places::country(std::int64_t i) const {
  return countries.empty() ? std::string() : countries[static_cast<std::size_t>(i)];
}

places places::every(std::int64_t step) const {
  places some;
  for (std::int64_t i = 0; i < count(); i += step) {
    const auto at = static_cast<std::size_t>(i);
    some.radians.insert(some.radians.end(), {radians[2 * at], radians[2 * at + 1]});
    if (!names.empty()) some.names.push_back(names[at]);
    if (!countries.empty()) some.countries.push_back(countries[at]);
  }
  return some;
}

places read_cities(const std::string& path) { return read<4>(path, {"name,country,lat,lon", 0, 1, 2, 3}); }

places read_airports(const std::string& path) { return read<5>(path, {"code,name,country,lat,lon", 1, 2, 3, 4}); }

places random_places(std::int64_t count, std::uint64_t seed) {
  places out;
  out.radians.reserve(static_cast<std::size_t>(2 * count));
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    // Equal areas of a sphere lie between equal steps of the sine of the latitude (Archimedes).
    out.radians.push_back(static_cast<float>(std::asin(2 * next_uniform(state) - 1)));
    out.radians.push_back(static_cast<float>(std::numbers::pi * (2 * next_uniform(state) - 1)));
  }
  return out;
}

}  // namespace nearest_neighbor
