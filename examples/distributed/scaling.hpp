// What more devices give: the programs on 1, 2, 4, ... positions, with the same work in all (strong scaling) and with the
// same work for each (weak scaling), and a picture of both.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "distributed/programs.hpp"

namespace distributed {

struct program {
  const char* name;
  outcome (*on)(const sizes&);
};

struct curve {
  std::string name;
  std::vector<double> devices;
  std::vector<double> strong;  // how many times as fast as one device
  std::vector<double> weak;    // the time of one device with a share of the work, over that of all with all of it
};

/// Runs the program by `run`, which checks it, on 1, 2, 4, ... and at last `most.devices` devices of this process.
curve curve_of(const program& p, const sizes& most, const std::function<outcome(const program&, const sizes&)>& run);

/// Both scalings over the number of devices as a PNG, beside what a perfect machine would give. Throws examples::png_error.
void write_scaling(const std::string& path, const std::vector<curve>& curves);

}  // namespace distributed
