// The PNG file (libpng's simplified interface, which reports errors instead of jumping) and the colour maps.
#include "png.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#ifdef SINTER_EXAMPLES_HAVE_PNG
#include <png.h>
#endif

namespace examples {
namespace {

/// Nine colours at equal distances, from which the others are interpolated.
using nine_colours = std::array<rgb, 9>;

constexpr nine_colours viridis = {{{68, 1, 84},
                                   {71, 45, 123},
                                   {59, 82, 139},
                                   {44, 114, 142},
                                   {33, 145, 140},
                                   {40, 174, 128},
                                   {94, 201, 98},
                                   {173, 220, 48},
                                   {253, 231, 37}}};
constexpr nine_colours inferno = {{{0, 0, 4},
                                   {33, 12, 74},
                                   {87, 16, 110},
                                   {138, 34, 106},
                                   {188, 55, 84},
                                   {228, 90, 49},
                                   {249, 142, 9},
                                   {249, 203, 53},
                                   {252, 255, 164}}};
constexpr nine_colours coolwarm = {{{59, 76, 192},
                                    {98, 130, 234},
                                    {141, 176, 254},
                                    {184, 208, 249},
                                    {221, 221, 221},
                                    {245, 196, 173},
                                    {244, 154, 123},
                                    {222, 96, 77},
                                    {180, 4, 38}}};

const nine_colours& colours_of(colour_map map) {
  switch (map) {
    case colour_map::viridis: return viridis;
    case colour_map::inferno: return inferno;
    case colour_map::coolwarm: break;
  }
  return coolwarm;
}

std::uint8_t between(std::uint8_t a, std::uint8_t b, double t) {
  return static_cast<std::uint8_t>(std::lround(a + (static_cast<double>(b) - a) * t));
}

}  // namespace

rgb mix(rgb under, rgb over, double amount) {
  return {between(under.r, over.r, amount), between(under.g, over.g, amount), between(under.b, over.b, amount)};
}

rgb colour_of(colour_map map, double t) {
  if (std::isnan(t)) return {128, 128, 128};
  const auto& colours = colours_of(map);
  const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(colours.size() - 1);
  const auto k = std::min(static_cast<std::size_t>(at), colours.size() - 2);
  return mix(colours[k], colours[k + 1], at - static_cast<double>(k));
}

#ifdef SINTER_EXAMPLES_HAVE_PNG

bool can_write_png() { return true; }

void write_png(const std::string& path, int width, int height, std::span<const rgb> pixels) {
  static_assert(sizeof(rgb) == 3);
  if (width < 1 || height < 1 || pixels.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height))
    throw png_error("[write_png] " + std::to_string(pixels.size()) + " pixels are not a picture of " +
                    std::to_string(width) + " x " + std::to_string(height));
  png_image picture = {};
  picture.version = PNG_IMAGE_VERSION;
  picture.width = static_cast<png_uint_32>(width);
  picture.height = static_cast<png_uint_32>(height);
  picture.format = PNG_FORMAT_RGB;
  const bool written = png_image_write_to_file(&picture, path.c_str(), 0, pixels.data(), 0, nullptr) != 0;
  const std::string why = picture.message;
  png_image_free(&picture);
  if (!written) throw png_error("cannot write " + path + ": " + why);
}

#else

bool can_write_png() { return false; }

void write_png(const std::string& path, int, int, std::span<const rgb>) {
  throw png_error("cannot write " + path + ": this build has no libpng; install libpng-dev and build again");
}

#endif

}  // namespace examples
