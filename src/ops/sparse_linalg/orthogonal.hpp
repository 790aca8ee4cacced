// Vectors made orthogonal to the rows of a basis: what gmres and the Lanczos iteration share.
#pragma once
#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// A vector less its part in the rows of a basis, and the coefficients of that part.
struct projected {
  ndarray left, h;
};

/// Classical Gram-Schmidt: h = dual^H w and left = w - h v, where dual^H v is 1. `v` and `dual` of shape (j, n), w of (n,); all
/// recorded. One pass over each. What rounding leaves of v in the result is as large as that of w: so w should have little of
/// v already, or the result be projected again.
projected project_out(const ndarray& v, const ndarray& dual, const ndarray& w);

/// The same twice, which is enough for any w that does not vanish (Giraud, Langou, Rozloznik, van den Eshof, Rounding Error Analysis
/// of the Classical Gram-Schmidt Orthogonalization Process, 2005).
projected project_out_twice(const ndarray& v, const ndarray& dual, const ndarray& w);

}  // namespace sinter::ops
