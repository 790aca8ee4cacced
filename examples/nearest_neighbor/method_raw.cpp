// The optimised raw kernels of chord_search.hpp on one GPU.
#include "chord_search.hpp"
#include "ladder.hpp"

namespace nearest_neighbor {

std::vector<rung> raw_rungs(const options& o) {
  return {{"raw", "chord", sn::to_string(gpu_of(o)), why_no_gpu(o),
           [](const task& t) { return search_arrays(t.cities, t, gpu_of(t.o), chord_search()); }}};
}

}  // namespace nearest_neighbor
