// Pictures for the examples: an RGB image, colour maps, text, and the PNG file.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const rgb&, const rgb&) = default;
};

/// A file that cannot be written, or a build without libpng: one line that says which.
struct png_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether this build has libpng. Without it write_png throws.
bool can_write_png();
/// Writes 8-bit RGB pixels, row after row from the top. Throws png_error, also where there are not width * height of
/// them. A file that could not be finished is removed.
void write_png(const std::string& path, int width, int height, std::span<const rgb> pixels);

/// Pixels in memory, row after row from the top.
struct image {
  int width = 0, height = 0;
  std::vector<rgb> pixels;

  image(int w, int h, rgb fill = {})
      : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  rgb& at(int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  const rgb& at(int x, int y) const { return const_cast<image*>(this)->at(x, y); }
};
inline void write_png(const std::string& path, const image& picture) {
  write_png(path, picture.width, picture.height, picture.pixels);
}

/// viridis and inferno go from dark to light evenly; coolwarm is blue below the middle, red above.
enum class colour_map { viridis, inferno, coolwarm };
/// The colour at t, from 0 to 1; numbers outside take the nearest end, NaN is grey.
rgb colour_of(colour_map map, double t);
/// `under` where amount is 0, `over` where it is 1.
rgb mix(rgb under, rgb over, double amount);

/// A disc with a smooth edge; centre and radius in pixels.
void draw_disc(image& to, double x, double y, double radius, rgb colour);
/// A line with round ends and smooth edges.
void draw_line(image& to, double x0, double y0, double x1, double y1, double width, rgb colour);
/// A colour bar from the lowest value (left, or bottom where it is higher than wide) to the highest.
void draw_colour_bar(image& to, int x, int y, int width, int height, colour_map map);

/// Text of a given height of capitals, in pixels; `weight` is the width of the strokes in parts of that height.
struct text_style {
  double height = 12;
  rgb colour{255, 255, 255};
  double weight = 0.13;
};
/// Draws one line of ASCII (and the UTF-8 signs for degrees, times and the middle dot) with its baseline's left end at
/// (x, y). Western European letters lose their accents; what the font lacks is drawn as a box.
void draw_text(image& to, double x, double y, std::string_view text, const text_style& style = {});
/// Width of the line in pixels.
double text_width(std::string_view text, const text_style& style = {});

}  // namespace examples
