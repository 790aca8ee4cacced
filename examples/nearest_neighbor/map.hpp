// A map of the cities, coloured by the distance to their nearest airport.
#pragma once
#include <string>

#include "places.hpp"
#include "report.hpp"

namespace nearest_neighbor {

/// Throws now rather than after the search if the map could not be written: input_error, or examples::png_error where
/// this build has no libpng.
void check_map(const std::string& path);

/// Draws the map as a PNG (equirectangular, a colour bar, a title). Throws examples::png_error if it cannot be written.
void draw_map(const std::string& path, const places& cities, const places& airports, const result& found);

/// Its width and height in pixels.
inline constexpr int map_width = 1600, map_height = 800;

}  // namespace nearest_neighbor
