// NumPy's rule for bins of equal width: which bin a sample lies in, given the edges that numpy.linspace makes. One text
// for host and device code, hence C++17.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__CUDACC__)
#define SINTER_HOST_DEVICE __host__ __device__
#else
#define SINTER_HOST_DEVICE
#endif

namespace sinter::backends {

/// `count` bins over [low, high], the last one closed. Edges and samples are compared as float32 where samples are of
/// that type, else as float64. Edge k is k * step + low, edge `count` is high: computed in float64, or in float32 where
/// `narrow` (low and high are then float32 numbers), and rounded to the type of the comparison. Edges must ascend.
template <class T>
class equal_bins {
 public:
  using edge_type = std::conditional_t<std::is_same<T, float>::value, float, double>;
  using number_type = std::conditional_t<std::is_same<T, float>::value, std::uint32_t, std::uint64_t>;

  equal_bins(double low, double high, std::int64_t count, bool narrow)
      : count_(count),
        narrow_(narrow),
        low_(low),
        width_(high - low),
        step_(width_ / static_cast<double>(count)),
        first_(static_cast<edge_type>(low)),
        last_(static_cast<edge_type>(high)),
        scale_(static_cast<edge_type>(static_cast<double>(count) / width_)),
        margin_(margin(high)),
        inside_(edge_type{0.5} - margin_) {
    if (narrow) step_ = (static_cast<float>(high) - static_cast<float>(low)) / static_cast<float>(count);
  }

  SINTER_HOST_DEVICE edge_type edge(std::int64_t k) const {
    if (k == count_) return last_;
    if (narrow_) return static_cast<float>(k) * static_cast<float>(step_) + static_cast<float>(low_);
    return static_cast<edge_type>(static_cast<double>(k) * step_ + low_);
  }

  /// -1 for samples outside and NaN.
  SINTER_HOST_DEVICE std::int64_t bin(T sample) const {
    const edge_type x = static_cast<edge_type>(sample);
    if (!(x >= first_ && x <= last_)) return -1;
    // The sample's place in units of bins, and the whole number next to it: that of an edge.
    const edge_type place = (x - first_) * scale_, edge = (place + shift) - shift, beyond = place - edge;
    if (beyond > margin_) return static_cast<whole>(edge);
    if (-beyond > margin_) return static_cast<whole>(edge) - 1;
    return bin_by_edges(x);
  }

  /// How far the sample lies from the middle of a bin, `number` of them above the first; that is its bin where
  /// is_clear(), or there is none if `number` is not below the count. Otherwise bin() decides. For up to 2^21 bins; without
  /// branches and conversions, since a sum's last bits are the number.
  SINTER_HOST_DEVICE edge_type near(T sample, number_type& number) const {
    constexpr edge_type whole_shift = shift + shift / 2;
    const edge_type from_middle = multiply_add(static_cast<edge_type>(sample) - first_, scale_, edge_type{-0.5});
    const edge_type shifted = from_middle + whole_shift, middle = shifted - whole_shift;
    number = bits_of(shifted) - bits_of(whole_shift);
    return absolute(from_middle - middle);
  }
  SINTER_HOST_DEVICE bool is_clear(edge_type from_middle) const { return from_middle < inside_; }

 private:
  static constexpr bool is_float = std::is_same<edge_type, float>::value;
  using whole = std::conditional_t<is_float, int, std::int64_t>;
  /// Adding it leaves no fraction.
  static constexpr edge_type shift = is_float ? 8388608.0 : 4503599627370496.0;

  static SINTER_HOST_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
  static SINTER_HOST_DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
  static SINTER_HOST_DEVICE float absolute(float x) { return fabsf(x); }
  static SINTER_HOST_DEVICE double absolute(double x) { return fabs(x); }
  static SINTER_HOST_DEVICE number_type bits_of(edge_type x) {
    number_type bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }

  /// How far places and edges may be off together, with something to spare. In roundings, half an epsilon each: a place
  /// by 3 count + |low| / step, since `first`, the difference, the scale and the product are rounded; an edge by
  /// 3 count + max(|low|, |high|) / step. 1, so that edges decide always, where numbers that small or large round
  /// otherwise.
  edge_type margin(double high) const {
    using numbers = std::numeric_limits<edge_type>;
    const double largest = std::fmax(std::fabs(low_), std::fabs(high)), count = static_cast<double>(count_);
    const double m = 2 * static_cast<double>(numbers::epsilon()) * count * (2 + largest / width_);
    const bool is_normal = scale_ >= numbers::min() && scale_ <= numbers::max();
    return is_normal && m < 0.5 ? static_cast<edge_type>(m) : edge_type{1};
  }

  /// For samples that lie close to an edge, where the edges themselves decide.
  SINTER_HOST_DEVICE std::int64_t bin_by_edges(edge_type x) const {
    const double guess = (static_cast<double>(x) - low_) / width_ * static_cast<double>(count_);
    std::int64_t k = guess > 0 ? count_ - 1 : 0;
    if (guess > 0 && guess < static_cast<double>(count_)) k = static_cast<std::int64_t>(guess);
    while (k > 0 && x < edge(k)) --k;
    while (k < count_ - 1 && x >= edge(k + 1)) ++k;
    return k;
  }

  std::int64_t count_;
  bool narrow_;
  double low_, width_, step_;
  edge_type first_, last_, scale_, margin_;
  edge_type inside_;  // how far from its middle a sample lies clearly within a bin
};

}  // namespace sinter::backends
