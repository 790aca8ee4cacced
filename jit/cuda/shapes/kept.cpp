#include "jit/cuda/shapes/kept.hpp"

#include <algorithm>

#include "jit/program/stages.hpp"

namespace sinter::jit {
namespace {

int bytes_of(const program& p, int reg) noexcept {
  return cuda::register_bytes(p.code[static_cast<std::size_t>(reg)].type);
}

/// The places, and the bytes of an element that they take together.
struct arrangement {
  std::vector<cuda::kept_place> places;
  int bytes = 0;
};

arrangement arrange(const program& p) {
  struct place {
    int offset, bytes, reg;  // reg: what lies there; -1: nothing any more
  };
  arrangement all;
  std::vector<place> places;
  for (int s = 0; s + 1 < static_cast<int>(p.stages.size()); ++s) {
    const std::vector<int> kept = kept_after(p, s);
    const auto is_kept = [&](int reg) { return std::find(kept.begin(), kept.end(), reg) != kept.end(); };
    for (place& o : places)
      if (!is_kept(o.reg)) o.reg = -1;
    for (const int reg : kept) {
      if (stage_of(p, reg) != s) continue;
      const int bytes = bytes_of(p, reg);
      const auto free = [&](const place& o) { return o.reg < 0 && o.bytes == bytes; };
      auto found = std::find_if(places.begin(), places.end(), free);
      if (found == places.end()) {
        found = places.insert(places.end(), {all.bytes, bytes, reg});
        all.bytes += bytes;
      }
      found->reg = reg;
      all.places.push_back({reg, found->offset});
    }
  }
  return all;
}

}  // namespace

int cuda_kept(const program& p, int groups) {
  int most = 0;
  for (int s = 0; s + 1 < static_cast<int>(p.stages.size()); ++s) {
    int words = 0;
    for (const int r : kept_after(p, s)) words += (bytes_of(p, r) + 3) / 4;
    most = std::max(most, words);
  }
  return most * groups * cuda_group;
}

int cuda_kept_bytes(const program& p, const cuda_variant& v) {
  return v.kept_in_shared ? arrange(p).bytes * v.groups * cuda_group * cuda_block : 0;
}

namespace cuda {

std::vector<kept_place> kept_places(const program& p) { return arrange(p).places; }

}  // namespace cuda
}  // namespace sinter::jit
