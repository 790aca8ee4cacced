// The map: regions by colour above, parts of the sphere below.
#pragma once
#include <string>

#include "groups.hpp"

namespace clusters {

/// Throws examples::png_error if it cannot be written.
void draw(const std::string& path, const places& p, const grouping& regions, const parts_of_sphere& parts);

}  // namespace clusters
