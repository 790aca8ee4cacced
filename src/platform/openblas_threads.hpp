// How many threads OpenBLAS takes, which is a setting of the whole process.
#pragma once
#include <mutex>

namespace sinter::platform {

/// The setting, for one caller at a time; the end restores what it was. Nothing where there is no OpenBLAS.
class openblas_threads {
 public:
  explicit openblas_threads(int threads);
  ~openblas_threads();
  openblas_threads(const openblas_threads&) = delete;
  openblas_threads& operator=(const openblas_threads&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  int before_ = 0;
};

}  // namespace sinter::platform
