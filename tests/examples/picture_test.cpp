// Pictures of the examples: the PNG file, colours, shapes and text.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#ifdef SINTER_EXAMPLES_HAVE_PNG
#include <png.h>
#endif

#include "common/png.hpp"
#include "nearest_neighbor/map.hpp"
#include "nearest_neighbor/places.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace examples;

bool no_png() {
  if (can_write_png()) return false;
  MESSAGE("left out: this build has no libpng");
  return true;
}

/// The picture as libpng reads it; empty if it cannot.
image read_png(const std::string& path) {
#ifdef SINTER_EXAMPLES_HAVE_PNG
  png_image picture = {};
  picture.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&picture, path.c_str()) == 0) return {0, 0};
  picture.format = PNG_FORMAT_RGB;
  image out(static_cast<int>(picture.width), static_cast<int>(picture.height));
  if (png_image_finish_read(&picture, nullptr, out.pixels.data(), 0, nullptr) == 0) return {0, 0};
  return out;
#else
  (void)path;
  return {0, 0};
#endif
}

std::int64_t count(const image& i, rgb colour) { return std::count(i.pixels.begin(), i.pixels.end(), colour); }

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const examples::png_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("pictures: a PNG has the pixels that were written") {
  if (no_png()) return;
  const sinter_test::scratch_folder folder;
  image wanted(37, 19);
  for (std::size_t k = 0; k < wanted.pixels.size(); ++k)
    wanted.pixels[k] = {static_cast<std::uint8_t>(k), static_cast<std::uint8_t>(7 * k),
                        static_cast<std::uint8_t>(k / 3)};
  write_png(folder / "a.png", wanted);
  const auto found = read_png(folder / "a.png");
  CHECK(found.width == 37);
  CHECK(found.height == 19);
  CHECK(found.pixels == wanted.pixels);
}

TEST_CASE("pictures: what cannot be written says so") {
  const std::vector<rgb> four(4);
  if (!can_write_png()) {
    CHECK(error_of([&] { write_png("/tmp/x.png", 2, 2, four); }) ==
          "cannot write /tmp/x.png: this build has no libpng; install libpng-dev and build again");
    return;
  }
  CHECK(error_of([&] {
          write_png("/no/such/folder/a.png", 2, 2, four);
        }).find("cannot write /no/such/folder/a.png: ") == 0);
  CHECK(error_of([&] { write_png("/tmp/x.png", 3, 2, four); }) == "[write_png] 4 pixels are not a picture of 3 x 2");
  CHECK(error_of([&] { write_png("/tmp/x.png", 0, 0, {}); }) == "[write_png] 0 pixels are not a picture of 0 x 0");
}

TEST_CASE("pictures: colour maps go from end to end, with grey for what is no number") {
  CHECK(colour_of(colour_map::viridis, 0) == rgb{68, 1, 84});
  CHECK(colour_of(colour_map::viridis, 1) == rgb{253, 231, 37});
  CHECK(colour_of(colour_map::viridis, -3) == colour_of(colour_map::viridis, 0));
  CHECK(colour_of(colour_map::inferno, 7) == colour_of(colour_map::inferno, 1));
  CHECK(colour_of(colour_map::coolwarm, 0.5) == rgb{221, 221, 221});
  CHECK(colour_of(colour_map::inferno, NAN) == rgb{128, 128, 128});
  const auto light = [](rgb c) { return 0.3 * c.r + 0.6 * c.g + 0.1 * c.b; };
  for (const auto map : {colour_map::viridis, colour_map::inferno})
    for (int k = 0; k < 100; ++k) CHECK(light(colour_of(map, k / 100.0)) < light(colour_of(map, (k + 1) / 100.0)));
}

TEST_CASE("pictures: discs and lines cover their area, and nothing outside of the picture") {
  const rgb white{255, 255, 255};
  const auto sum = [](const image& i) {
    double total = 0;
    for (const auto& p : i.pixels) total += p.r / 255.0;
    return total;
  };
  image disc(60, 60);
  draw_disc(disc, 30, 30, 20, white);
  CHECK(sum(disc) == doctest::Approx(3.14159 * 400).epsilon(0.01));
  image line(100, 50);
  draw_line(line, 20, 25, 80, 25, 6, white);
  CHECK(sum(line) == doctest::Approx(60 * 6 + 3.14159 * 9).epsilon(0.02));
  image edge(20, 20);
  draw_disc(edge, 0, 0, 10, white);
  draw_disc(edge, 500, -500, 10, white);
  CHECK(sum(edge) == doctest::Approx(3.14159 * 100 / 4).epsilon(0.05));
  image bar(10, 30);
  draw_colour_bar(bar, 2, 5, 4, 20, colour_map::viridis);
  CHECK(bar.at(3, 5) == colour_of(colour_map::viridis, 1));
  CHECK(bar.at(3, 24) == colour_of(colour_map::viridis, 0));
  CHECK(bar.at(3, 25) == rgb{});
  draw_colour_bar(bar, -5, -5, 100, 100, colour_map::viridis);
}

TEST_CASE("pictures: every letter can be seen, and is as wide as text_width says") {
  for (char c = '!'; c < 127; ++c) {
    if (c == '@' || c == '`' || c == '{' || c == '}') continue;  // boxes
    CAPTURE(c);
    const text_style style{24, {255, 255, 255}};
    image picture(80, 60);
    draw_text(picture, 20, 40, std::string(1, c), style);
    int left = 80, right = -1;
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        if (picture.at(x, y).r > 100) left = std::min(left, x), right = std::max(right, x);
    CHECK(right >= 0);
    CHECK(left >= 17);
    CHECK(right <= 22 + text_width(std::string(1, c), style));
  }
  CHECK(text_width("") == 0);
  CHECK(text_width("ab") > text_width("a") + text_width("b"));
  CHECK(text_width("\u00e9") == text_width("e"));
  CHECK(text_width("\u00d7") == text_width("x"));
  CHECK(text_width("\u4e2d") > 0);  // a box
}

TEST_CASE("nearest neighbor: the map has its size, and cities where they are") {
  if (no_png()) return;
  using namespace nearest_neighbor;
  const sinter_test::scratch_folder folder;
  places cities;
  cities.radians = {0, 0, 0.5f, 1, 1.5f, -3};  // the last one beyond the northern edge
  cities.names = {"Null", "\u00c7a", "Far"};
  const result found{{0, 0, 0}, {20, 500, 100}};
  draw_map(folder / "map.png", cities, random_places(3, 1), found);
  const auto map = read_png(folder / "map.png");
  CHECK(map.width == map_width);
  CHECK(map.height == map_height);
  CHECK(count(map, map.at(3, 3)) > map_width * 20);
  const auto bright = [&](int x, int y) { return map.at(x, y).r > 80; };
  const int equator = 92 + static_cast<int>(81 / 0.225);
  CHECK(bright(map_width / 2, equator));
  CHECK_FALSE(bright(map_width / 2 + 40, equator + 40));
}
