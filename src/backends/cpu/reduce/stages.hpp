// Staged programs on the host: blocks of rows that the cache holds go through ordinary programs, step by step. So a
// block is read from memory once, and every step has the bits of a kernel of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/cpu/kernels/kernels.hpp"

namespace sinter::cpu {

/// An operand of a step: one of the launch, or memory of the block, for each element or for each row.
struct step_operand {
  enum class place : std::uint8_t { input, output, elements, rows } where;
  std::uint16_t index;
};
/// An elementwise program over the elements of a block, or a reduction of its rows.
struct stage_step {
  jit::program code;
  std::vector<step_operand> inputs, outputs;
  std::vector<std::uint16_t> params;                  // of the staged program, or:
  static constexpr std::uint16_t first_row = 0xffff;  // where the block begins along the first axis
};

/// The steps of a staged program, and the types of the memory that passes values from one to the next.
struct stage_steps {
  explicit stage_steps(const jit::program& p);
  std::vector<stage_step> steps;
  std::vector<dtype> elements, rows;
  std::int64_t lent_bytes = 0;  // of an element's values that results' memory holds until these are written
};

/// Weight from which a value is stored for the next stage instead of computed again.
inline constexpr int stored_weight = 8;

/// Whether blocks of rows of this size stay in the cache and there are enough of them for all threads, or all of few rows do and
/// separate kernels would compute something costly again.
bool keeps_rows(const jit::program& p, std::int64_t rows, std::int64_t elements);

/// The launches of all steps, one for each size of block: what preparation needs. Their addresses are arbitrary.
std::vector<jit::launch> step_launches(const stage_steps& steps, const jit::launch& l);
/// Bytes of memory for a launch: of few rows, whose elements are more than threads keep.
std::size_t stages_scratch(const stage_steps& steps, const jit::launch& l);
/// `find`: the code of a step's launch; `scratch`: stages_scratch() bytes.
void run_stages(const stage_steps& steps, const jit::launch& l,
                const std::function<const runtime::prepared&(const jit::launch&)>& find, void* scratch, int* fault);

}  // namespace sinter::cpu
