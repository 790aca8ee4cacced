// Folders for the files of one compilation. Folders left by killed processes are removed by the next one.
#pragma once
#include <string>

#include "platform/files.hpp"

namespace sinter::platform {

/// A folder "sinter-jit-XXXXXX" of mode 0700 under $TMPDIR or /tmp, removed with the files in it. `path()` is empty if
/// it could not be created, and problem() says which folder and why. A file in it is locked while the object lives: the
/// lock ends with the process in any case, and is visible in other containers, unlike process numbers.
class private_folder {
 public:
  private_folder();
  ~private_folder();
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;
  const std::string& path() const noexcept { return path_; }
  const std::string& problem() const noexcept { return problem_; }

 private:
  std::string path_, problem_;
  unique_fd lock_;
};

/// Removes folders under `base` whose creators have ended. Called for the first private folder of a process.
void clear_abandoned_folders(const std::string& base);

}  // namespace sinter::platform
