// Selections whose size depends on data: these evaluate their arguments and synchronise.
#pragma once
#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

/// C-order positions of the true elements of a bool value: int64, rank 1.
value true_positions(const value& flags);
/// The elements of `data` where `flags`, which has as many elements, is true: rank 1.
value true_elements(const value& data, const value& flags);
/// The stable permutation that sorts int64 keys of rank 1, all of them in [0, bound). Evaluates, but does not wait.
value sorting_permutation(const value& keys, std::int64_t bound);

/// Flags in the layout of runtime::selection: uint32 words for the first `packed` elements, bools of rank 1 for the
/// others (null where there are none). Records.
struct packed_flags {
  value words, rest;
  std::int64_t packed = 0;
};
/// Packs tiles along the last axis: all elements where its extent is a multiple of a tile, and the whole tiles of a
/// single row. Other shapes are not packed.
packed_flags pack_flags(const value& flags);

}  // namespace sinter::ops
