// For tests of the host compiler and of the disk cache: a cache for one test, a library of one function to compile, and
// the contents of an entry's file.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "jit/cpu/hooks.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "platform/disk_cache.hpp"
#include "platform/files.hpp"
#include "platform/hooks.hpp"
#include "support/scratch_folder.hpp"

namespace sinter_test {

/// An empty disk cache, without libraries that other tests have loaded.
struct fresh_cache {
  scratch_folder scratch;
  std::string before = sinter::platform::disk_cache::instance().folder();
  fresh_cache() {
    sinter::platform::reset_disk_cache_for_tests(scratch / "cache");
    sinter::jit::forget_loaded_modules_for_tests();
  }
  ~fresh_cache() { sinter::platform::reset_disk_cache_for_tests(before); }

  /// The files of the entries.
  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> all;
    for (const auto& item : std::filesystem::directory_iterator(scratch / "cache"))
      if (item.path().extension() == ".sinter") all.push_back(item.path());
    return all;
  }
};

inline bool no_compiler() {
  const auto& compiler = sinter::jit::host_compiler::find();
  if (!compiler.path.empty()) return false;
  MESSAGE("left out: " << compiler.reason);
  return true;
}

inline bool no_nvrtc() {
  std::string why_not;
  if (sinter::jit::nvrtc_available(&why_not)) return false;
  MESSAGE("left out: " << why_not);
  return true;
}

inline std::string answer_source(int value) {
  return "extern \"C\" int answer() { return " + std::to_string(value) + "; }\n";
}

inline int answer(const std::string& source) {
  return reinterpret_cast<int (*)()>(sinter::jit::compile_host(source, {"answer"}).at(0))();
}

/// The key and the payload of an entry's file: after 48 bytes of header, whose third and fourth number are lengths.
/// Both are empty where the file is too short.
struct cache_entry {
  std::string key, payload;
  explicit cache_entry(const std::filesystem::path& path) {
    const auto file = sinter::platform::read_file(path.string());
    if (!file || file->size() < 48) return;
    std::uint64_t length = 0;
    std::memcpy(&length, file->data() + 16, sizeof length);
    key.assign(file->data() + 48, length);
    payload.assign(file->data() + 48 + length, file->size() - 48 - length);
  }
};

}  // namespace sinter_test
