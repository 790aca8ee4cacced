// Validation of a launch before any work is enqueued.
#pragma once
#include <span>
#include <string>

#include "ops/raw/state.hpp"

namespace sinter::ops {

using kernel_arguments = std::span<const detail::kernel_argument>;

/// Checks number, dtypes, kinds and ranks of the arguments against the parameters, as far as these are known. Throws
/// value_error (the number) or dtype_error, with the parameters in the message.
void check_arguments(const bound_kernel& kernel, kernel_arguments arguments, const std::string& who);

/// The launch in the runtime's terms; checks its extents, shared memory and features against the device's limits.
/// Throws value_error with the limit.
runtime::raw_launch checked_launch(const runtime::function_figures& limits, const launch& how, const std::string& who);

/// Throws value_error unless a kernel can write the array: it must not be read-only, and must be in C order (or have
/// strides without overlapping elements).
void check_writable(const graph::array_view& v, bool strided, std::size_t argument, const std::string& who);

/// Size in bytes of an argument as a kernel parameter.
std::size_t bytes_of(const detail::kernel_argument& a);

}  // namespace sinter::ops
