// The instructions of sparse_programs.bin (sparse_instructions.py) by sinter.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"

namespace sinter::fuzz {

/// A register: a sparse array or a dense one.
struct sparse_value {
  sparse::sparse_array s;
  ndarray d;
  sparse_value() = default;
  sparse_value(sparse::sparse_array x) : s(std::move(x)) {}
  sparse_value(ndarray x) : d(std::move(x)) {}
};

struct sparse_instruction {
  std::string name;
  std::vector<sparse_value> operands;
  std::vector<std::int64_t> numbers;
  std::vector<ndarray> arrays;
};

/// Its results. io_error: no instruction has this name.
std::vector<sparse_value> execute(const sparse_instruction& i);

}  // namespace sinter::fuzz
