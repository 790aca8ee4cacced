// The code of docs/files.md: every line of it is in this file, and does what the page says.
#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>

#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/scratch_folder.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace {

/// The page's files are made in a folder of their own, and what it prints goes nowhere.
struct reader {
  sinter_test::scratch_folder folder;
  std::filesystem::path before = std::filesystem::current_path();
  std::ostringstream text;
  std::streambuf* out = std::cout.rdbuf(text.rdbuf());
  reader() { std::filesystem::current_path(folder.path()); }
  ~reader() {
    std::cout.rdbuf(out);
    std::filesystem::current_path(before);
  }
};

bool equal(const sn::ndarray& a, const sn::ndarray& b) { return sn::array_equal(a, b); }

}  // namespace

TEST_CASE("files docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("files.md", "docs/files_test.cpp", 6);
}

TEST_CASE("files docs: binary files") {
  const reader page;
  const sn::ndarray x = sn::reshape(sn::arange(60, {.dtype = sn::float64}), {20, 3});
  // clang-format off
  sn::save("x.npy", x);                                // as np.save writes it, to the byte
  sn::ndarray same = sn::load("x.npy");
  sn::ndarray narrow = sn::load("x.npy", {.dtype = sn::float32, .device = sn::cpu});
  // clang-format on
  CHECK(equal(same, x));
  CHECK(narrow.dtype() == sn::float32);
  CHECK(narrow.device() == sn::cpu);
}

TEST_CASE("files docs: archives") {
  const reader page;
  const sn::ndarray x = sn::reshape(sn::arange(60, {.dtype = sn::float64}), {20, 3}), y = sn::ones(3);
  try {
    sn::savez("probe.npz", {x});
  } catch (const sn::io_error& e) {
    MESSAGE("left out: ", e.what());
    return;
  }
  // clang-format off
  sn::savez("model.npz", {{"weights", x}, {"bias", y}});
  sn::savez_compressed("numbered.npz", {x, y});        // arr_0, arr_1
  const sn::npz_file model = sn::load_npz("model.npz");
  for (const std::string& name : model.names()) std::cout << name << ' ' << model[name].shape() << '\n';
  // clang-format on
  CHECK(page.text.str() == "weights (20, 3)\nbias (3,)\n");
  CHECK(sn::load_npz("numbered.npz").names()[1] == "arr_1");
}

TEST_CASE("files docs: maps") {
  const reader page;
  const sn::ndarray x = sn::reshape(sn::arange(60, {.dtype = sn::float64}), {20, 3});
  sn::save("x.npy", x);
  // clang-format off
  const sn::ndarray table = sn::load("x.npy", {.mmap_mode = "r"});
  auto part = sn::sum(table(slice(10, 20)));           // reads those rows only
  // clang-format on
  CHECK(part.item<double>() == 1335);
  CHECK_THROWS_AS(table(0) = 1, sn::value_error);
}

TEST_CASE("files docs: text") {
  const reader page;
  const sn::ndarray x = sn::reshape(sn::arange(60, {.dtype = sn::float64}), {20, 3});
  // clang-format off
  sn::savetxt("t.csv", x, {.fmt = "%.6g", .delimiter = ",", .header = "a,b,c"});
  auto t = sn::loadtxt("t.csv", {.delimiter = ","});                        // every field is a number
  auto u = sn::genfromtxt("t.csv", {.delimiter = ",", .usecols = {"c", "a"}, .names = true});
  // clang-format on
  CHECK(equal(t, x));
  CHECK(equal(u, sn::stack({x(_, 2), x(_, 0)}, 1)));
  std::ofstream("cities.csv") << "name,country,lat,lon\nOslo,NO,59.9,10.8\nTromso,NO,69.6,19.0\n";
  // clang-format off
  const sn::csv_table cities = sn::read_csv("cities.csv", {.usecols = {"lat", "lon"}, .dtype = sn::float32});
  auto radians = sn::deg2rad(cities.array());          // (rows, 2)
  auto north = cities["lat"] > 60;
  // clang-format on
  CHECK(radians.shape() == sn::shape_t{2, 2});
  CHECK(north.to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("files docs: printing") {
  const reader page;
  const sn::ndarray x = sn::array({1 / 3.0, 2.0});
  // clang-format off
  sn::set_printoptions({.precision = 3, .suppress = true});
  {
    const sn::printoptions wide({.linewidth = 120, .sign = '+', .floatmode = sn::floatmode::fixed});
    std::cout << x << '\n';
  }
  const sn::print_options now = sn::get_printoptions();
  // clang-format on
  CHECK(page.text.str() == "[+0.333 +2.000]\n");
  CHECK((now.precision == 3 && now.suppress && now.linewidth == 75));
  sn::set_printoptions({.precision = 8, .suppress = false});
  CHECK(sn::array2string(x, {.separator = ", "}) == "[0.33333333, 2.        ]");
}
