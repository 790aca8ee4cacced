// The picture: losses over the times through the data, and what the network says of the plane.
#pragma once
#include <string>
#include <vector>

#include "network/training.hpp"

namespace network {

/// Throws png_error.
void write_figure(const std::string& path, const std::vector<double>& of_line, const std::vector<double>& of_layers,
                  const layers& n, const data_set& d);

}  // namespace network
