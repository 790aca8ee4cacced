// What cases of sparse factorisations ask first.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"

namespace sinter::test {

/// Whether a case must be skipped since SuperLU is not installed; prints the reason.
inline bool no_superlu() {
  static const std::string why = [] {
    try {
      (void)sparse::linalg::splu(sparse::csr_array(eye(2)));
    } catch (const device_error& e) {
      return std::string(e.what());
    }
    return std::string();
  }();
  if (!why.empty()) MESSAGE("left out: " << why);
  return !why.empty();
}

}  // namespace sinter::test
