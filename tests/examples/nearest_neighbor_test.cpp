// The example's search against a float64 brute force, and its readers.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "examples/nearest_neighbor_points.hpp"
#include "nearest_neighbor/places.hpp"
#include "nearest_neighbor/search.hpp"

namespace {

using namespace nearest_neighbor;

struct pair_of {
  std::int64_t index;
  double km;
};

pair_of exact_nearest(const float* p, const places& others) {
  pair_of best{0, 1e300};
  for (std::int64_t j = 0; j < others.count(); ++j) {
    const double km = exact_km(p, &others.radians[static_cast<std::size_t>(2 * j)]);
    if (km < best.km) best = {j, km};
  }
  return best;
}

/// Compares every `step`-th city; returns how many rows chose another airport within the tolerance.
int compare(const places& cities, const places& airports, std::int64_t step) {
  places some;
  for (std::int64_t i = 0; i < cities.count(); i += step)
    for (int k = 0; k < 2; ++k) some.radians.push_back(cities.radians[static_cast<std::size_t>(2 * i + k)]);
  const auto p = sn::array(some.radians.data(), {some.count(), 2});
  const auto q = sn::array(airports.radians.data(), {airports.count(), 2});
  const auto found = find_nearest(p, q);
  const auto index = found.index.to_vector<std::int64_t>();
  const auto distance = found.distance.to_vector<float>();
  REQUIRE(index.size() == static_cast<std::size_t>(some.count()));
  REQUIRE(distance.size() == index.size());
  int other = 0, wrong = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const float* at = &some.radians[2 * i];
    const auto best = exact_nearest(at, airports);
    REQUIRE(index[i] >= 0);
    REQUIRE(index[i] < airports.count());
    const double chosen = exact_km(at, &airports.radians[static_cast<std::size_t>(2 * index[i])]);
    other += index[i] != best.index;
    if (!(chosen - best.km <= tolerance_km(best.km)) || !(std::fabs(distance[i] - best.km) <= tolerance_km(best.km))) {
      ++wrong;
      MESSAGE("row " << i << ": " << index[i] << " at " << distance[i] << " km, exactly " << best.index << " at "
                     << best.km);
    }
  }
  CHECK(wrong == 0);
  return other;
}

struct temporary_file {
  std::string path;
  explicit temporary_file(const std::string& text) {
    char name[] = "/tmp/sinter_places_XXXXXX";
    const int fd = mkstemp(name);
    REQUIRE(fd >= 0);
    std::fclose(fdopen(fd, "w"));
    path = name;
    std::ofstream(path) << text;
  }
  ~temporary_file() { std::remove(path.c_str()); }
};

std::string reading_fails(const std::string& text) {
  const temporary_file file(text);
  try {
    read_cities(file.path);
  } catch (const input_error& e) {
    const std::string message = e.what();
    CHECK(message.rfind(file.path, 0) == 0);
    return message.substr(file.path.size());
  }
  return "no error";
}

}  // namespace

TEST_CASE("nearest neighbor: real cities and airports agree with float64 brute force") {
  const auto cities = read_cities(SINTER_SOURCE_DIR "/examples/data/cities.csv");
  const auto airports = read_airports(SINTER_SOURCE_DIR "/examples/data/airports.csv");
  CHECK(cities.count() == 171075);
  CHECK(airports.count() == 7184);
  CHECK(compare(cities, airports, 57) < 10);
}

TEST_CASE("nearest neighbor: random points agree with float64 brute force, for few and many references") {
  CHECK(compare(random_places(1001, 1), random_places(1, 2), 1) == 0);
  compare(random_places(1, 3), random_places(777, 4), 1);
  compare(random_places(257, 5), random_places(4099, 6), 1);
}

TEST_CASE("nearest neighbor: opposite points give the half circumference, not NaN") {
  const auto far = opposite_points();
  compare(far.from, far.to, 1);
}

TEST_CASE("nearest neighbor: points a few metres apart are told apart") {
  for (const double latitude : {0.02, 0.7, -1.1, 1.5}) {
    const auto near = metres_apart(latitude, 1.3);
    compare(near.from, near.to, 1);
  }
}

TEST_CASE("nearest neighbor: random points are uniform on the sphere and the same for the same seed") {
  const auto p = random_places(20000, 7);
  CHECK(p.radians == random_places(20000, 7).radians);
  CHECK(p.radians != random_places(20000, 8).radians);
  double mean_sine = 0, mean_square = 0, mean_lon = 0;
  for (std::size_t i = 0; i < p.radians.size(); i += 2) {
    const double s = std::sin(static_cast<double>(p.radians[i]));
    mean_sine += s / 20000, mean_square += s * s / 20000, mean_lon += static_cast<double>(p.radians[i + 1]) / 20000;
  }
  CHECK(std::fabs(mean_sine) < 0.02);
  CHECK(std::fabs(mean_square - 1.0 / 3) < 0.02);
  CHECK(std::fabs(mean_lon) < 0.06);
}

TEST_CASE("nearest neighbor: bad rows are named with file and line") {
  const std::string head = "name,country,lat,lon\n";
  CHECK(reading_fails("city,country,lat,lon\n") == ":1: expected the header 'name,country,lat,lon'");
  CHECK(reading_fails(head) == ": no rows");
  CHECK(reading_fails("") == ": no rows");
  CHECK(reading_fails(head + "a,b,1,2\na,b,1\n") == ":3: expected 4 fields, found 3");
  CHECK(reading_fails(head + "a,b,1,2,3\n") == ":2: expected 4 fields, found 5");
  CHECK(reading_fails(head + "a,b,1x,2\n") == ":2: latitude '1x' is not a number");
  CHECK(reading_fails(head + "a,b,1,\n") == ":2: longitude '' is not a number");
  CHECK(reading_fails(head + "a,b,90.1,2\n") == ":2: latitude 90.1 is outside -90 to 90 degrees");
  CHECK(reading_fails(head + "a,b,1,-180.5\n") == ":2: longitude -180.5 is outside -180 to 180 degrees");
  CHECK(reading_fails(head + "a,b,nan,2\n") == ":2: latitude nan is outside -90 to 90 degrees");
}

TEST_CASE("nearest neighbor: lines may end as on Windows") {
  const temporary_file file("name,country,lat,lon\r\nHere,XX,90,-180\r\n");
  const auto p = read_cities(file.path);
  CHECK(p.count() == 1);
  CHECK(p.name(0) == "Here");
  CHECK(p.country(0) == "XX");
  CHECK(p.radians[1] == -3.14159265f);
}
