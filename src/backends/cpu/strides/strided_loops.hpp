// Runs of elements that lie a stride apart in memory, to and from lanes, in loops that are compiled once for each instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

// Here, before an instruction set is enabled.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::cpu {

/// Elements are of 1, 2, 4, 8 or 16 bytes; a stride is a number of elements.
struct strided_loops {
  /// to[l] = from[l * stride], by the logarithm of an element's size.
  void (*load[5])(void* to, const void* from, std::int64_t stride, int n);
  /// to[l * stride] = from[l]. Nothing else is written.
  void (*store[5])(void* to, std::int64_t stride, const void* from, int n);
  /// to[l] = from[l / run * stride].
  void (*repeat[5])(void* to, const void* from, std::int64_t stride, int run, int n);
  /// Records of 2, 3 or 4 components, of 4 or 8 bytes: to[c][l] = from[l * components + c], where to[c] is not null. Of the
  /// last record only those are read. to[0] is not null.
  void (*take_apart[2])(void* const* to, const void* from, int components, int n);
  /// to[l * components + c] = from[c][l].
  void (*put_together[2])(void* to, const void* const* from, int components, int n);
  /// Rows of elements, one after the other: of each of `planes`, which are plane_stride bytes apart, `count` rows of `bytes`, not
  /// none, which are `stride` bytes apart.
  void (*rows)(void* to, const void* from, std::int64_t plane_stride, int planes, std::int64_t stride, int count,
               std::size_t bytes);
  /// to[p * count + k] = from[p * plane_stride + offsets[k]], by the logarithm of an element's size.
  void (*planes[5])(void* to, const void* from, std::int64_t plane_stride, int planes, const std::int64_t* offsets,
                    int count);
  bool shuffles_planes;  // those of 4 or 8 bytes, where they lie near each other
  /// to[l] = first + l * step.
  void (*count)(std::int64_t* to, std::int64_t first, std::int64_t step, int n);
};

/// Those of the instruction set that the machine has.
const strided_loops& loops_over_strides() noexcept;

#define SINTER_STRIDES_DECLARE(isa)   \
  namespace isa {                     \
  strided_loops make_strided_loops(); \
  }
SINTER_STRIDES_DECLARE(baseline)
#if defined(__x86_64__)
SINTER_STRIDES_DECLARE(avx2)
SINTER_STRIDES_DECLARE(avx512)
#endif
#undef SINTER_STRIDES_DECLARE

}  // namespace sinter::cpu
