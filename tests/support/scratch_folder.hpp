// A folder for one test, removed with everything in it.
#pragma once
#include <filesystem>
#include <string>

#include "platform/files.hpp"

namespace sinter_test {

class scratch_folder {
 public:
  scratch_folder()
      : path_(std::filesystem::temp_directory_path() / ("sinter-test-" + sinter::platform::unique_suffix())) {
    std::filesystem::create_directory(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sinter_test
