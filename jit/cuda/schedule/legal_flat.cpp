// Legal schedules of flat rows: the last two axes as one line, along which the outputs and some inputs are contiguous, while others
// repeat along one of the axes. So vectors also suit rows of few elements, as the channels of pixels, and of an odd number.
#include <algorithm>
#include <cstdlib>

#include "jit/cuda/schedule/legal.hpp"

namespace sinter::cuda {
namespace {

using jit::access;
using jit::launch;
using jit::operand;

/// Elements from which on it pays.
constexpr std::int64_t many_elements = 1 << 15;

/// Whether vectors of `n` elements of the line are contiguous and aligned.
bool is_flat(const launch& l, const operand& o, std::size_t size, std::int64_t n) noexcept {
  const int inner = l.extents.size() - 1;
  if (o.strides[inner] != 1 || o.strides[inner - 1] != l.extents[inner]) return false;
  if (!aligned(o, size, std::min<std::size_t>(16, size * static_cast<std::size_t>(n)))) return false;
  for (int j = 0; j < inner - 1; ++j)
    if (l.extents[j] != 1 && o.strides[j] % n != 0) return false;
  return true;
}

/// Whether lanes read an input by few lines of memory: it has one value for all of a row, the same values in all rows, or elements
/// that lie near each other along the whole line.
bool suits_lanes(const launch& l, const operand& o, std::size_t size) noexcept {
  constexpr std::int64_t near = 16;
  const int inner = l.extents.size() - 1;
  const std::int64_t along = o.strides[inner], across = o.strides[inner - 1];
  const std::int64_t most = std::max(std::abs(along), std::abs(across) / l.extents[inner]);
  return along == 0 || across == 0 || most * static_cast<std::int64_t>(size) <= near;
}

bool is_flat_rows(const launch& l, jit::cuda_variant& v) {
  const int rank = l.extents.size(), n = jit::cuda_vector_length(*l.code);
  if (rank < 2 || n == 1 || l.extents[rank - 1] * l.extents[rank - 2] < n) return false;
  bool any = false;
  for (std::size_t k = 0; k < l.inputs.size(); ++k) {
    const bool uniform = constant_over(l, l.inputs[k], 0, rank);
    const bool flat = !uniform && !gathered(l, k) && is_flat(l, l.inputs[k], size_of_input(l, k), n);
    if (!uniform && !flat && !suits_lanes(l, l.inputs[k], size_of_input(l, k))) return false;
    any = any || flat;
    v.inputs.push_back(uniform ? access::uniform : flat ? access::linear : access::strided);
  }
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    if (!is_flat(l, l.outputs[k], size_of_output(l, k), n)) return false;
  v.outputs.assign(l.outputs.size(), access::linear);
  v.shape = jit::cuda_shape::flat_rows;
  v.vector = static_cast<std::uint8_t>(n);
  v.wide_index = !fits_narrow(l, core::element_count(l.extents));
  // Without a vector to read, rows of few elements, of which a warp would have too few.
  constexpr std::int64_t short_row = 32;
  return (any || l.extents[rank - 1] < short_row) &&
         std::none_of(l.code->code.begin(), l.code->code.end(), [](auto& i) { return jit::is_random(i.op); });
}

}  // namespace

bool add_flat_rows(const launch& l, extent_of_search which, variant_list& to) {
  const bool all = which == extent_of_search::all;
  if (!all && core::element_count(l.extents) < many_elements) return false;
  return to.add_if(l, [&](jit::cuda_variant& v) { return is_flat_rows(l, v); }) && !all;
}

}  // namespace sinter::cuda
