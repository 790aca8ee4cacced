// Panels: transposed where neighbours along the panel's axis are neighbours in memory.
#include "backends/cpu/kernels/panel.hpp"

#include "backends/cpu/kernels/transpose.hpp"

namespace sinter::cpu {
namespace {

struct pair64 {
  std::uint64_t lo, hi;
};

template <class T>
void fill(void* rows_of, const void* elements, int rows, int lanes, int padded, std::int64_t step,
          std::int64_t stride) {
  constexpr std::int64_t pitch = panel_pitch(sizeof(T));
  T* const to = static_cast<T*>(rows_of);
  const T* const from = static_cast<const T*>(elements);
  if (step == 1) {
    transpose(to, pitch, from, stride, rows, lanes, sizeof(T));
  } else if (step == -1) {
    transpose(to + (rows - 1) * pitch, -pitch, from - (rows - 1), stride, rows, lanes, sizeof(T));
  } else {
    for (int l = 0; l < lanes; ++l)
      for (int r = 0; r < rows; ++r) to[r * pitch + l] = from[r * step + l * stride];
  }
  for (int r = 0; r < rows && lanes < padded; ++r)
    for (int l = lanes; l < padded; ++l) to[r * pitch + l] = to[r * pitch + lanes - 1];
}

}  // namespace

void fill_panel(void* to, const void* from, int rows, int lanes, int padded, std::int64_t step, std::int64_t stride,
                std::size_t size) noexcept {
  switch (size) {
    case 1: return fill<std::uint8_t>(to, from, rows, lanes, padded, step, stride);
    case 2: return fill<std::uint16_t>(to, from, rows, lanes, padded, step, stride);
    case 4: return fill<std::uint32_t>(to, from, rows, lanes, padded, step, stride);
    case 8: return fill<std::uint64_t>(to, from, rows, lanes, padded, step, stride);
    default: return fill<pair64>(to, from, rows, lanes, padded, step, stride);
  }
}

}  // namespace sinter::cpu
