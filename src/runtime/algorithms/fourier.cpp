// Keys of transforms, and the default of backends without them.
#include "runtime/algorithms/fourier.hpp"

#include "runtime/backend.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {

std::string key_of(const fourier_layout& l) {
  std::string key;
  for (const std::int64_t n : {static_cast<std::int64_t>(l.kind), static_cast<std::int64_t>(l.inverse),
                               static_cast<std::int64_t>(l.wide), static_cast<std::int64_t>(l.rank), l.length[0],
                               l.length[1], l.length[2], l.in_stride, l.out_stride, l.batch, l.in_step, l.out_step})
    key.append(reinterpret_cast<const char*>(&n), sizeof n);
  return key;
}

runtime::fourier& backend::fourier() {
  throw device_error("[fft] Fourier transforms do not run on " + to_string(id()));
}

}  // namespace sinter::runtime
