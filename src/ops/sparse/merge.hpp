// Two sparse arrays of one shape, entry by entry.
#pragma once
#include <optional>

#include "ops/sparse/parts.hpp"

namespace sinter::ops {

/// Two arrays in one format (csr unless both are csc), canonical, of one index dtype.
struct alike_pair {
  state_ref a, b;
};
/// shape_error, device_error.
alike_pair made_alike(const sparse_array& a, const sparse_array& b, const char* function);

/// The places of either of two arrays, or of both, and their elements there: zero where one has none. `places` has no data.
struct merged_pair {
  state_ref places;
  ndarray a, b;
};
merged_pair merged(const alike_pair& p, bool common);

/// One operation on both without zeros, by a kernel of the host; nothing where it has none for these.
std::optional<state_ref> combined(const alike_pair& p, runtime::sparse_pairing how);

}  // namespace sinter::ops
