// Discrete Fourier transforms by a vendor's library. Like launches, they are enqueued and never synchronise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace sinter::runtime {

enum class fourier_kind : std::uint8_t { complex, real_to_complex, complex_to_real };

/// `batch` transforms over one to three axes, each dense and in C order but for a common stride. The last axis of the
/// complex side of a real transform holds length / 2 + 1 elements. Nothing is scaled.
struct fourier_layout {
  fourier_kind kind = fourier_kind::complex;
  bool inverse = false;  // the sign of the exponent is +; real kinds have theirs
  bool wide = false;     // double precision
  int rank = 1;
  std::int64_t length[3] = {1, 1, 1};          // of the real side where it is halved
  std::int64_t in_stride = 1, out_stride = 1;  // elements between neighbours of the last axis; 1 unless rank is 1
  std::int64_t batch = 1, in_step = 1, out_step = 1;  // elements from one transform to the next

  /// Elements of axis `a` in memory.
  std::int64_t in_extent(int a) const noexcept { return kind == fourier_kind::complex_to_real ? halved(a) : length[a]; }
  std::int64_t out_extent(int a) const noexcept {
    return kind == fourier_kind::real_to_complex ? halved(a) : length[a];
  }

 private:
  std::int64_t halved(int a) const noexcept { return a == rank - 1 ? length[a] / 2 + 1 : length[a]; }
};
/// The layout's bytes, for tables.
std::string key_of(const fourier_layout& l);

/// Cached plans.
struct fourier_figures {
  std::size_t plans = 0, limit = 0;
};

class fourier {
 public:
  virtual ~fourier() = default;
  /// Throws device_error, in the name of `function`, where the library is missing or fails. `in` and `out` are the same
  /// or do not overlap; in place is for `complex` with equal strides and steps. complex_to_real may overwrite its
  /// input. Addresses are aligned to 16 bytes. Thread safe.
  virtual void run(const fourier_layout& l, void* in, void* out, const char* function) = 0;
  /// Whether transforms with this stride take longer than a transposition that makes their axis the last one, followed
  /// by transforms of rows.
  virtual bool prefers_rows(const fourier_layout&) const noexcept { return false; }
  virtual fourier_figures figures() = 0;
  /// Drops all plans.
  virtual void clear() = 0;
};

}  // namespace sinter::runtime
