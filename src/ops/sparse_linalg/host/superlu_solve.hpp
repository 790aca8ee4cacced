// Systems with the factors that SuperLU has made.
#pragma once
#include <cstdint>

#include "ops/sparse_linalg/host/superlu_library.hpp"

namespace sinter::ops::slu {

/// P_r A P_c = L U of n rows.
struct factors {
  int n = 0;
  const supernodes* l = nullptr;
  const columns* u = nullptr;
  const int *perm_r = nullptr, *perm_c = nullptr;
};
enum class form : std::uint8_t { plain, transposed, conjugated };

/// x of A x = b, A^T x = b or A^H x = b. b and x are (n, `count`) in C order, in separate memory; T is the type of the factors:
/// float, double or std::complex of these.
template <class T>
void solve(const factors& f, form how, const T* b, std::int64_t count, T* x);

}  // namespace sinter::ops::slu
