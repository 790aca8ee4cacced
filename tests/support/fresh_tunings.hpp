// For tests of autotune: no results of earlier searches.
#pragma once
#include <string>

#include "ops/base/hooks.hpp"
#include "platform/disk_cache.hpp"
#include "platform/hooks.hpp"
#include "support/scratch_folder.hpp"

namespace sinter_test {

/// An empty disk cache, and nothing known in the process.
struct fresh_tunings {
  scratch_folder scratch;
  std::string before = sinter::platform::disk_cache::instance().folder();
  fresh_tunings() {
    sinter::platform::reset_disk_cache_for_tests(scratch / "cache");
    sinter::ops::forget_tunings_for_tests();
  }
  ~fresh_tunings() {
    sinter::platform::reset_disk_cache_for_tests(before);
    sinter::ops::forget_tunings_for_tests();
  }
};

}  // namespace sinter_test
