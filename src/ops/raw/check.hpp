// What is wrong with a launch, said before anything runs.
#pragma once
#include <span>
#include <string>

#include "ops/raw/state.hpp"

namespace sinter::ops {

using kernel_arguments = std::span<const detail::kernel_argument>;

/// Number, dtypes, kinds and ranks of the arguments against the parameters, as far as these are known. Throws
/// value_error (the number) or dtype_error, with the parameters.
void check_arguments(const bound_kernel& kernel, kernel_arguments arguments, const std::string& who);

/// The launch for the device; its extents, shared memory and features are within the limits. Throws value_error with
/// the limit.
runtime::raw_launch checked_launch(const runtime::function_figures& limits, const launch& how, const std::string& who);

/// Throws value_error unless an array can be written in the way that a kernel does: not read-only, in C order (or with
/// strides that keep elements apart).
void check_writable(const graph::array_view& v, bool strided, std::size_t argument, const std::string& who);

/// Bytes that an argument has as a parameter.
std::size_t bytes_of(const detail::kernel_argument& a);

}  // namespace sinter::ops
