// Arrays of golden files in several layouts: a base array, and its view (with_layout in golden_reductions.py).
#pragma once
#include <vector>

#include "golden/golden.hpp"

namespace sinter::test {

enum class layout : std::uint8_t { plain, transposed, sliced, broadcast };

struct laid_out_array {
  ndarray array;
  layout how{};
};

inline laid_out_array read_laid_out(golden_file& f) {
  const ndarray base = upload(f.array());
  const auto how = static_cast<layout>(f.u8());
  switch (how) {
    case layout::transposed: {
      const auto d = f.dims();
      return {permute_dims(base, axes(std::vector<int>(d.begin(), d.end()))), how};
    }
    case layout::sliced: return {at(base, f.key()), how};
    case layout::broadcast: return {broadcast_to(base, shape_t(f.dims())), how};
    case layout::plain: break;
  }
  return {base, how};
}

}  // namespace sinter::test
