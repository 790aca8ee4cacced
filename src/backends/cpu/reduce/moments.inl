// Second moments: the mean, the sum of squares of differences from it, and how many elements there are. Included by loops.inl.

/// Sum of |x - mean|^2 in double by Welford's recurrence; partial results join by Chan's formula. Planes: mean, sum,
/// number of elements, imaginary part of the mean.
template <class T, class Real>
struct moment {
  static constexpr int planes = is_complex_v<T> ? 4 : 3, partials = planes;
  static constexpr int bytes[max_planes] = {8, 8, 8, 8};
  static constexpr bool any_order = false;
  static void reset(void* const* acc, int n) {
    for (int p = 0; p < planes; ++p) {
      double* a = static_cast<double*>(acc[p]);
      SINTER_LANES(l, n) a[l] = 0;
    }
  }
  SINTER_STEP static void part(double* __restrict mean, double* __restrict sum, double x, double share) {
    const double d = x - *mean;
    *mean += d * share;
    *sum += d * (x - *mean);
  }
  template <int N, int Step>
  SINTER_STEP static void step(void* const* acc, int lane, const void* v, int from, int n, int, int nth) {
    double* __restrict mean = static_cast<double*>(acc[0]) + lane;
    double* __restrict sum = static_cast<double*>(acc[1]) + lane;
    const T* __restrict x = static_cast<const T*>(v) + from;
    const int count = N ? N : n;
    const double share = 1.0 / nth;
    if constexpr (is_complex_v<T>) {
      double* __restrict other = static_cast<double*>(acc[3]) + lane;
      SINTER_LANES(l, count) {
        part(mean + l, sum + l, x[l].re, share);
        part(other + l, sum + l, x[l].im, share);
      }
    } else {
      SINTER_LANES(l, count) part(mean + l, sum + l, x[l], share);
    }
  }
  static void close(void* const* acc, int n, bool rows, int length, std::int64_t) {
    auto* count = static_cast<double*>(acc[2]);
    SINTER_LANES(l, n) count[l] = !rows ? length : l < length ? (length - l + row_lanes - 1) / row_lanes : 0;
  }
  /// Lanes of as many elements on either side, as those of rows of some lengths are: `share` is that of the second side.
  static void join_even(void* const* to, void* const* from, int n, double elements, double share) {
    double* __restrict mean = static_cast<double*>(to[0]);
    double* __restrict sum = static_cast<double*>(to[1]);
    const double* __restrict mean_b = static_cast<const double*>(from[0]);
    const double* __restrict sum_b = static_cast<const double*>(from[1]);
    const double weight = elements * share;
    SINTER_LANES(l, n) {
      const double d = mean_b[l] - mean[l];
      mean[l] += d * share;
      sum[l] = sum[l] + sum_b[l] + d * d * weight;
    }
    if constexpr (is_complex_v<T>) {
      double* __restrict other = static_cast<double*>(to[3]);
      const double* __restrict other_b = static_cast<const double*>(from[3]);
      SINTER_LANES(l, n) {
        const double e = other_b[l] - other[l];
        other[l] += e * share;
        sum[l] += e * e * weight;
      }
    }
  }
  static void join(void* const* to, void* const* from, int n) {
    double* __restrict mean = static_cast<double*>(to[0]);
    double* __restrict sum = static_cast<double*>(to[1]);
    double* __restrict count = static_cast<double*>(to[2]);
    const double* __restrict mean_b = static_cast<const double*>(from[0]);
    const double* __restrict sum_b = static_cast<const double*>(from[1]);
    const double* __restrict count_b = static_cast<const double*>(from[2]);
    if (n == 0) return;
    const double here = count[0], there = count_b[0], both = here + there;
    long long unlike = here == 0 || there == 0;
    SINTER_LANES(l, n) unlike |= (long long)(count[l] != here) | (long long)(count_b[l] != there);
    if (!unlike) {
      join_even(to, from, n, here, there / both);
      SINTER_LANES(l, n) count[l] = both;
      return;
    }
    for (int l = 0; l < n; ++l) {
      const double all = count[l] + count_b[l];
      if (count_b[l] == 0) continue;
      const double d = mean_b[l] - mean[l], share = count_b[l] / all;
      const bool first = count[l] == 0;
      mean[l] = first ? mean_b[l] : mean[l] + d * share;
      sum[l] = first ? sum_b[l] : sum[l] + sum_b[l] + d * d * (count[l] * share);
      if constexpr (is_complex_v<T>) {
        double* other = static_cast<double*>(to[3]);
        const double* other_b = static_cast<const double*>(from[3]);
        const double e = other_b[l] - other[l];
        other[l] = first ? other_b[l] : other[l] + e * share;
        if (!first) sum[l] += e * e * (count[l] * share);
      }
      count[l] = all;
    }
  }
  static void finish(void* const* acc, void* to, int n) {
    Real* r = static_cast<Real*>(to);
    const double* sum = static_cast<const double*>(acc[1]);
    SINTER_LANES(l, n) r[l] = tidy_nan(Real(sum[l]));
  }
};
