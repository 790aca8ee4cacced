// Copy loops specialised by element size; everything else about a dtype is bytes here.
#include "backends/cpu/kernels/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/strides/strided_loops.hpp"
#include "jit/cpu/block.hpp"

namespace sinter::cpu {
namespace {

struct pair64 {
  std::uint64_t lo, hi;
};

/// Calls f(lane, element offset, stride, count) for every run of the range.
template <class F>
void each_run(const lane_map& map, std::int64_t start, int n, F&& f) {
  const int rank = map.extents.size();
  if (rank <= 1) {
    std::int64_t stride = rank == 0 ? 0 : map.strides[0];
    f(0, start * stride, stride, n);
    return;
  }
  std::int64_t coordinate[core::max_rank];
  std::int64_t offset = 0, rest = start;
  for (int a = rank - 1; a >= 0; --a) {
    std::int64_t q = rest / map.extents[a];
    coordinate[a] = rest - q * map.extents[a];
    offset += coordinate[a] * map.strides[a];
    rest = q;
  }
  const std::int64_t inner = map.extents[rank - 1], stride = map.strides[rank - 1];
  for (int lane = 0;;) {
    int run = static_cast<int>(std::min<std::int64_t>(inner - coordinate[rank - 1], n - lane));
    f(lane, offset, stride, run);
    lane += run;
    if (lane == n) return;
    offset -= coordinate[rank - 1] * stride;
    coordinate[rank - 1] = 0;
    for (int a = rank - 2; a >= 0; --a) {
      offset += map.strides[a];
      if (++coordinate[a] < map.extents[a]) break;
      offset -= map.extents[a] * map.strides[a];
      coordinate[a] = 0;
    }
  }
}

/// Two axes, the inner one of a few elements: a counter instead of a call for every run.
template <class T>
void load_short_runs(T* out, const T* in, std::int64_t inner, std::int64_t outer_stride, std::int64_t stride,
                     std::int64_t start, int n) {
  std::int64_t row = start / inner, column = start - row * inner;
  const T* from = in + row * outer_stride;
  if (stride == 0) {  // one number for each run
    int l = 0;
    if (column > 0) {
      for (const int rest = static_cast<int>(std::min<std::int64_t>(inner - column, n)); l < rest; ++l) out[l] = *from;
      from += outer_stride;
    }
    if (l < n)
      loops_over_strides().repeat[std::countr_zero(sizeof(T))](out + l, from, outer_stride, static_cast<int>(inner),
                                                               n - l);
    return;
  }
  if (stride == 1) {
    const int run = static_cast<int>(inner);
    int done = 0;
    if (column > 0) {
      done = static_cast<int>(std::min<std::int64_t>(inner - column, n));
      std::memcpy(out, from + column, static_cast<std::size_t>(done) * sizeof(T));
      from += outer_stride;
    }
    const auto bytes = static_cast<std::size_t>(inner) * sizeof(T);
    const int whole = (n - done) / run;
    loops_over_strides().rows(out + done, from, 0, 1, outer_stride * static_cast<std::int64_t>(sizeof(T)), whole,
                              bytes);
    done += whole * run;
    from += whole * outer_stride;
    if (done < n) std::memcpy(out + done, from, static_cast<std::size_t>(n - done) * sizeof(T));
    return;
  }
  for (int l = 0; l < n; ++l) {
    out[l] = from[column * stride];
    if (++column == inner) {
      column = 0;
      from += outer_stride;
    }
  }
}

/// Elements of a run up to which a counter costs less than a call for each; where they lie in a row or are one number, and what a
/// call does is short.
constexpr std::int64_t most_short_run = 16, most_plain_run = 256;

bool has_short_runs(const lane_map& map) noexcept {
  const std::int64_t stride = map.strides.empty() ? 1 : map.strides.back();
  return map.extents.size() >= 2 &&
         map.extents.back() <= (stride == 0 || stride == 1 ? most_plain_run : most_short_run);
}

/// Three axes, the inner one of a few elements: a part of a plane, whole planes, a part of one.
template <class T>
void load_three_axes(T* out, const T* in, const lane_map& map, std::int64_t start, int n) {
  const std::int64_t inner = map.extents[2], plane = map.extents[1] * inner, stride = map.strides[2];
  const std::int64_t first = start % plane;
  const T* from = in + start / plane * map.strides[0];
  const auto part = [&](std::int64_t at, std::int64_t lanes) {
    const int count = static_cast<int>(std::min<std::int64_t>(lanes, n));
    load_short_runs(out, from, inner, map.strides[1], stride, at, count);
    out += count;
    n -= count;
    from += map.strides[0];
  };
  if (first != 0) part(first, plane - first);
  if (stride == 1) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const int planes = static_cast<int>(n / plane);
    loops_over_strides().rows(out, from, map.strides[0] * size, planes, map.strides[1] * size,
                              static_cast<int>(map.extents[1]), static_cast<std::size_t>(inner * size));
    out += planes * plane;
    n -= static_cast<int>(planes * plane);
    from += planes * map.strides[0];
  }
  while (n > 0) part(0, plane);
}

/// Planes of a few elements in all: up to a row of the axis around them at a time, by a table of their places.
constexpr int most_in_plane = 32;

/// The first axis of a plane; 0: there are none, or the runs that they are made of are copied faster one by one.
template <class T>
int first_of_plane(const lane_map& map, int n) {
  const int last = map.extents.size() - 1;
  const std::int64_t stride = map.strides[last];
  int first = last + 1;
  std::int64_t elements = 1;
  while (first > 1 && elements * map.extents[first - 1] <= most_in_plane) elements *= map.extents[--first];
  if (first > last || n < 4 * elements) return 0;
  if (first == last && (stride == 0 || stride == 1)) return 0;
  const bool is_shuffled = loops_over_strides().shuffles_planes && (sizeof(T) == 4 || sizeof(T) == 8);
  constexpr std::int64_t long_run = 16 / static_cast<std::int64_t>(sizeof(T));
  return is_shuffled || stride != 1 || map.extents[last] < long_run ? first : 0;
}

template <class T>
void load_small_planes(T* out, const T* in, const lane_map& map, int first, std::int64_t start, int n) {
  std::int64_t offsets[most_in_plane] = {};
  int count = 1;  // places of the axes so far, the innermost ones first
  for (int a = map.extents.size(); a-- > first;) {
    for (std::int64_t k = 1; k < map.extents[a]; ++k)
      for (int l = 0; l < count; ++l) offsets[k * count + l] = offsets[l] + k * map.strides[a];
    count *= static_cast<int>(map.extents[a]);
  }
  lane_map around;
  for (int a = 0; a < first; ++a) {
    around.extents.push_back(map.extents[a]);
    around.strides.push_back(map.strides[a]);
  }
  const std::int64_t plane = start / count;
  int place = static_cast<int>(start - plane * count);  // within it
  const int planes = (place + n + count - 1) / count;
  each_run(around, plane, planes, [&](int, std::int64_t offset, std::int64_t stride, int some) {
    const T* from = in + offset;
    for (; some > 0 && (place != 0 || n < count); --some, from += stride, place = 0) {  // a part of one
      const int end = std::min(place + n, count);
      for (int l = place; l < end; ++l) *out++ = from[offsets[l]];
      n -= end - place;
    }
    const int whole = std::min(some, n / count);
    if (whole > 0) loops_over_strides().planes[std::countr_zero(sizeof(T))](out, from, stride, whole, offsets, count);
    out += std::int64_t{whole} * count;
    n -= whole * count;
    from += whole * stride;
    for (int l = 0; whole < some && l < n; ++l) *out++ = from[offsets[l]];
  });
}

/// The innermost three axes as planes of runs of a few elements, for each position along the axes around them.
template <class T>
void load_planes(T* out, const T* in, const lane_map& map, std::int64_t start, int n) {
  const int last = map.extents.size() - 1;
  if (last == 1) return load_short_runs(out, in, map.extents[1], map.strides[0], map.strides[1], start, n);
  if (last == 2) return load_three_axes(out, in, map, start, n);
  lane_map around, inner;
  std::int64_t volume = 1;
  for (int a = 0; a <= last; ++a) {
    lane_map& part = a < last - 2 ? around : inner;
    part.extents.push_back(map.extents[a]);
    part.strides.push_back(map.strides[a]);
    if (a >= last - 2) volume *= map.extents[a];
  }
  around.extents.push_back(volume);
  around.strides.push_back(0);
  each_run(around, start, n, [&](int lane, std::int64_t offset, std::int64_t, int count) {
    load_three_axes(out + lane, in + offset, inner, lane == 0 ? start % volume : 0, count);
  });
}

/// Runs shorter than this cost less than a call of their loop.
constexpr int least_run = 16;

template <class T>
void load_strided(T* out, const T* in, std::int64_t stride, int n) {
  constexpr int kind = std::countr_zero(sizeof(T));
  if (n >= least_run) return loops_over_strides().load[kind](out, in, stride, n);
  for (int l = 0; l < n; ++l) out[l] = in[l * stride];
}
template <class T>
void store_strided(T* out, std::int64_t stride, const T* in, int n) {
  constexpr int kind = std::countr_zero(sizeof(T));
  if (n >= least_run) return loops_over_strides().store[kind](out, stride, in, n);
  for (int l = 0; l < n; ++l) out[l * stride] = in[l];
}

template <class T>
void load_bytes(void* to, const char* base, const lane_map& map, std::int64_t start, int n, int padded) {
  T* out = static_cast<T*>(to);
  const T* in = reinterpret_cast<const T*>(base);
  const int plane = map.extents.size() >= 2 ? first_of_plane<T>(map, n) : 0;
  if (plane > 0) load_small_planes(out, in, map, plane, start, n);
  else if (has_short_runs(map)) load_planes(out, in, map, start, n);
  else
    each_run(map, start, n, [&](int lane, std::int64_t offset, std::int64_t stride, int count) {
      const T* from = in + offset;
      if (stride == 1) std::memcpy(out + lane, from, sizeof(T) * static_cast<std::size_t>(count));
      else if (stride == 0) std::fill_n(out + lane, count, *from);
      else load_strided(out + lane, from, stride, count);
    });
  for (int l = n; l < padded; ++l) out[l] = out[n - 1];
}

template <class T>
void store_bytes(char* base, const lane_map& map, std::int64_t start, int n, const void* from) {
  const T* in = static_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(base);
  each_run(map, start, n, [&](int lane, std::int64_t offset, std::int64_t stride, int count) {
    T* to = out + offset;
    if (stride == 1) std::memcpy(to, in + lane, sizeof(T) * static_cast<std::size_t>(count));
    else store_strided(to, stride, in + lane, count);
  });
}

}  // namespace

void lane_map::assign(const core::dims& space, const core::dims& steps) {
  const int n = space.size();
  extents.resize(n);
  strides.resize(n);
  std::int64_t *const extent = extents.data(), *const stride = strides.data();
  constant = true;
  // Innermost first, to the end of what there is room for: merging looks at the axis just inside.
  int first = n;
  for (int a = n - 1; a >= 0; --a) {
    const std::int64_t length = space[a], step = steps[a];
    if (length == 1) continue;
    if (step != 0) constant = false;
    if (first < n && step == stride[first] * extent[first]) {
      extent[first] *= length;
    } else {
      --first;
      extent[first] = length;
      stride[first] = step;
    }
  }
  if (first > 0) {
    std::copy(extent + first, extent + n, extent);
    std::copy(stride + first, stride + n, stride);
    extents.resize(n - first);
    strides.resize(n - first);
  }
  contiguous = first == n || (first == n - 1 && stride[0] == 1);
}

void load_lanes(void* to, const char* base, dtype type, const lane_map& map, std::int64_t start, int n, int padded) {
  if (is_half(type)) {
    const auto widen = type == dtype::f16 ? jit::widen_f16 : jit::widen_bf16;
    if (map.contiguous && n == padded)
      return widen(static_cast<float*>(to), reinterpret_cast<const std::uint16_t*>(base) + start, n);
    alignas(64) std::uint16_t bits[jit::block_lanes];
    for (int at = 0; at < padded; at += jit::block_lanes) {
      const int some = std::min(padded - at, jit::block_lanes);
      load_bytes<std::uint16_t>(bits, base, map, start + at, std::min(some, n - at), some);
      widen(static_cast<float*>(to) + at, bits, some);
    }
    return;
  }
  switch (itemsize(type)) {
    case 1: return load_bytes<std::uint8_t>(to, base, map, start, n, padded);
    case 2: return load_bytes<std::uint16_t>(to, base, map, start, n, padded);
    case 4: return load_bytes<std::uint32_t>(to, base, map, start, n, padded);
    case 8: return load_bytes<std::uint64_t>(to, base, map, start, n, padded);
    default: return load_bytes<pair64>(to, base, map, start, n, padded);
  }
}

void store_lanes(char* base, dtype type, const lane_map& map, std::int64_t start, int n, const void* from) {
  if (is_half(type)) {
    const auto narrow = type == dtype::f16 ? jit::narrow_f16 : jit::narrow_bf16;
    if (map.contiguous)
      return narrow(reinterpret_cast<std::uint16_t*>(base) + start, static_cast<const float*>(from), n);
    alignas(64) std::uint16_t bits[jit::block_lanes];
    for (int at = 0; at < n; at += jit::block_lanes) {
      const int some = std::min(n - at, jit::block_lanes);
      narrow(bits, static_cast<const float*>(from) + at, some);
      store_bytes<std::uint16_t>(base, map, start + at, some, bits);
    }
    return;
  }
  switch (itemsize(type)) {
    case 1: return store_bytes<std::uint8_t>(base, map, start, n, from);
    case 2: return store_bytes<std::uint16_t>(base, map, start, n, from);
    case 4: return store_bytes<std::uint32_t>(base, map, start, n, from);
    case 8: return store_bytes<std::uint64_t>(base, map, start, n, from);
    default: return store_bytes<pair64>(base, map, start, n, from);
  }
}

void fill_offsets(std::int64_t* to, std::int64_t base, const lane_map& map, std::int64_t start, int n, int padded) {
  each_run(map, start, n, [&](int lane, std::int64_t offset, std::int64_t stride, int count) {
    if (count >= least_run) return loops_over_strides().count(to + lane, base + offset, stride, count);
    for (int l = 0; l < count; ++l) to[lane + l] = base + offset + l * stride;
  });
  for (int l = n; l < padded; ++l) to[l] = to[n - 1];
}

}  // namespace sinter::cpu
