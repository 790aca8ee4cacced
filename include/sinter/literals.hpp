// The short names for indexing: `using namespace sinter::idx;` brings in these four and nothing else.
#pragma once
#include "sinter/subscript.hpp"

namespace sinter::inline v0 {
namespace idx {

inline constexpr none_t _{0};
inline constexpr newaxis_t newaxis{};
inline constexpr ellipsis_t ellipsis{};
using sinter::slice;

}  // namespace idx
}  // namespace sinter::inline v0
