// What a backend does unless it says otherwise.
#include "runtime/backend.hpp"

#include <cstring>

#include "sinter/error.hpp"

namespace sinter::runtime {

data_fault read_fault(const int* words, bad_index* index) noexcept {
  if (index) {
    index->axis = -1 - words[1];  // see kernel_builder::lower_gather
    std::memcpy(&index->value, words + 2, sizeof index->value);
    std::memcpy(&index->extent, words + 4, sizeof index->extent);
  }
  return static_cast<data_fault>(words[0]);
}

std::shared_ptr<raw_module> backend::load_module(const module_source&) {
  throw device_error("[raw_module] kernels written by hand do not run on " + to_string(id()));
}

algorithms& backend::algorithms() {
  throw device_error("[algorithms] sorting, scans and selections do not run on " + to_string(id()));
}

products& backend::products() {
  throw device_error("[products] matrix products do not run on " + to_string(id()));
}

solvers& backend::solvers() {
  throw device_error("[linalg] factorisations of matrices do not run on " + to_string(id()));
}

}  // namespace sinter::runtime
