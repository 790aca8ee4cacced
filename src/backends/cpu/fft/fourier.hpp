// Fourier transforms on the CPU.
#pragma once
#include <memory>

#include "runtime/algorithms/fourier.hpp"

namespace sinter::cpu {

std::unique_ptr<runtime::fourier> make_fourier();

}  // namespace sinter::cpu
