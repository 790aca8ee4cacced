// For tests only: hooks into the functions.
#pragma once
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/raw_module.hpp"

namespace sinter::ops {

/// Drops the tuning results that this process has cached, as in a new process.
void forget_tunings_for_tests();

/// Loads modules in place of the backend, so that raw kernels need no GPU. Null: the backend loads them.
using module_loader = std::shared_ptr<runtime::raw_module> (*)(runtime::device_id, const runtime::module_source&);
void load_modules_with_for_tests(module_loader loader) noexcept;

}  // namespace sinter::ops
