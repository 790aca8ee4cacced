// Legal schedules of staged programs, whose rows stay in a thread's registers from one stage to the next.
//
// A thread has groups of four neighbouring elements. Where these are not aligned vectors in memory, as in rows of an odd
// length, the accesses of a warp would touch each sector of it four times. Then the threads of a warp read and write
// neighbouring elements, and pass them on through shared memory (access::staged).
#include <algorithm>
#include <bit>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/schedule/legal.hpp"
#include "jit/program/scalar.hpp"

namespace sinter::cuda {

using jit::access;
using jit::cuda_shape;
using jit::launch;
using jit::operand;

namespace {

void set_shape(const launch& l, jit::cuda_variant& v) {
  const reduce_geometry g = row_geometry(l);
  const std::int64_t elements = reduced_count(l);
  v.shape = cuda_shape::staged_rows;
  v.groups = static_cast<std::uint8_t>(groups_of_thread(g));
  v.all_groups = elements == std::int64_t{v.groups} * g.first.block_x * jit::cuda_group;
  if (elements % jit::cuda_group == 0) v.vector = jit::cuda_group;
  v.wide_index = !fits_narrow(l, kept_count(l) * elements);
}

void make_stages(const launch& l, bool by_warps, jit::cuda_variant& v) {
  const int rank = l.extents.size();
  set_shape(l, v);
  const auto way_of = [&](const operand& o, std::size_t size) {
    const bool whole = v.vector == jit::cuda_group && rank - l.kept == 1;
    if (whole && vector_along(l, o, size, rank - 1, jit::cuda_group)) return access::linear;
    return by_warps && rank - l.kept == 1 && o.strides[rank - 1] == 1 ? access::staged : access::strided;
  };
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    v.inputs.push_back(constant_over(l, l.inputs[k], l.kept, rank) ? access::uniform
                                                                   : way_of(l.inputs[k], size_of_input(l, k)));
  for (std::size_t k = 0; k < l.outputs.size(); ++k) v.outputs.push_back(way_of(l.outputs[k], size_of_output(l, k)));
  if (jit::cuda_strip_bytes(*l.code, v) == 0) return;
  const unsigned lanes = std::min(row_geometry(l).first.block_x, 32u);
  v.tile.levels = static_cast<std::uint8_t>(std::countr_zero(lanes));
}

}  // namespace

void add_stages(const launch& l, extent_of_search which, variant_list& to) {
  jit::cuda_variant& v = to.add(l);
  make_stages(l, true, v);
  if (which == extent_of_search::all && jit::cuda_strip_bytes(*l.code, v) > 0) make_stages(l, false, to.add(l));
}

bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements) {
  const reduce_geometry g = row_geometry(rows, elements);
  const std::int64_t groups = groups_of_thread(g);
  if (g.splits > 1 || groups > jit::cuda_kept_registers / jit::cuda_group) return false;
  std::int64_t weight = 0;
  for (const jit::instr& i : p.code) weight += jit::weight(i.op);
  return weight * groups <= jit::cuda_unrolled_weight &&
         jit::cuda_kept(p, static_cast<int>(groups)) <= jit::cuda_kept_registers;
}

}  // namespace sinter::cuda
