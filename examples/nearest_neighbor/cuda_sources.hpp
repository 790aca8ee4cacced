// The text of the kernels in kernels/, as the build embeds it.
#pragma once
#include <string_view>

namespace nearest_neighbor {

extern const std::string_view chord_cuda;       // chord_search, chord_finish
extern const std::string_view two_kernel_cuda;  // nearest_of_blocks, nearest_of_rows
extern const std::string_view knn_cuda;         // knn_search, knn_great_circle

}  // namespace nearest_neighbor
