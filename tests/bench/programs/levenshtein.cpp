#include "programs.hpp"

namespace bench::programs {

outputs levenshtein(const inputs& in) {
  const ndarray &a = in["a"], &b = in["b"];
  const auto n = a.len(), m = b.len();
  ndarray D = sn::zeros({n + m + 1, n + 1}, sn::int32) + (n + m);
  D(0, 0) = 0;
  for (std::int64_t d = 1; d <= n + m; ++d) {
    const auto lo = std::max<std::int64_t>(0, d - m), hi = std::min(n, d);
    ndarray i = sn::arange(lo, hi + 1);
    ndarray up = sn::where(i > 0, D(d - 1, i - 1) + 1, n + m), left = D(d - 1, i) + 1;
    ndarray ii = sn::clip(i - 1, 0, n - 1), jj = sn::clip(d - i - 1, 0, m - 1);
    ndarray sub = sn::where((i > 0) & (d - i > 0), D(d - 2, i - 1) + (a[ii] != b[jj]), n + m);
    D(d, slice(lo, hi + 1)) = sn::minimum(sn::minimum(up, left), sub);
    if (d <= m) D(d, 0) = d;
  }
  ndarray row = sn::arange(m + 1);
  for (std::int64_t i = 0; i < n; ++i) {
    ndarray c = sn::concatenate({sn::array({i + 1}), sn::minimum(row["1:"] + 1, row[":-1"] + (b != a(i)))});
    row = sn::cummin(c - sn::arange(m + 1)) + sn::arange(m + 1);
  }
  return {{"distance", D(n + m, n)}, {"rows", row}};
}

}  // namespace bench::programs
