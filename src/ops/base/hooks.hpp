// For tests only: what they may turn in the functions.
#pragma once
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/raw_module.hpp"

namespace sinter::ops {

/// Forgets the tunings that this process has made or read, as a new process would.
void forget_tunings_for_tests();

/// What loads modules instead of the backend: kernels then need no GPU. Null: the backend.
using module_loader = std::shared_ptr<runtime::raw_module> (*)(runtime::device_id, const runtime::module_source&);
void load_modules_with_for_tests(module_loader loader) noexcept;

}  // namespace sinter::ops
