// What a backend does unless it says otherwise.
#include "runtime/backend.hpp"

#include "sinter/error.hpp"

namespace sinter::runtime {

std::shared_ptr<raw_module> backend::load_module(const module_source&) {
  throw device_error("[raw_module] kernels written by hand do not run on " + to_string(id()));
}

}  // namespace sinter::runtime
