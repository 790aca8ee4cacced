// The code of launches that have been prepared, found by program and geometry.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/cpu/kernels/kernels.hpp"
#include "platform/hash.hpp"

namespace sinter::cpu {

/// The geometry of a launch as far as code depends on it.
struct needs {
  std::uint64_t elements = 0, results = 0;  // uniform inputs
  bool split_tail = false, groups = false;
  std::string patterns = {};  // of operands
};
/// `alone`: run by itself, neither as a step of others nor with rows that are found by indices.
needs needs_of(const jit::launch& l, bool split_tail, bool alone = false);

/// Never destroyed. Threads may share it.
class prepared_table {
 public:
  runtime::prepared& find(const jit::launch& l, const needs& n);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<runtime::prepared>, platform::bytes_hash> entries_;
};

}  // namespace sinter::cpu
