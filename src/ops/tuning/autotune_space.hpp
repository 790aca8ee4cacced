// Configurations as text.
#pragma once
#include <string>

#include "sinter/autotune.hpp"

namespace sinter::ops {

/// "BLOCK=128, grid 4096, block 128"; without the grid "BLOCK=128, block 128".
std::string text_of(const configuration& c, bool with_grid);

}  // namespace sinter::ops
