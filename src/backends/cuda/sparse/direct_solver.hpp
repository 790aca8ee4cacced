// Sparse systems solved directly on a GPU: by cuDSS where it is installed, else by cuSOLVER's QR factorisation.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "runtime/algorithms/sparse.hpp"

namespace sinter::cuda {

struct cudss_api;
struct cusolver_sparse_api;

/// That of one device. Handles are made once and live as long as the process; one thread at a time uses them.
class direct_solver {
 public:
  /// release_memory gives cached memory back to the driver, from which libraries allocate.
  direct_solver(int device, std::function<void()> release_memory)
      : device_(device), release_memory_(std::move(release_memory)) {}

  bool takes(const runtime::sparse_matrix& a, std::int64_t columns) const;
  /// As runtime::sparse::solve(); `stream` is the device's current one.
  bool solve(const runtime::sparse_system& s, void* x);

 private:
  enum class outcome : std::uint8_t { solved, undecided, no_memory };
  outcome attempt(const runtime::sparse_system& s, void* x);
  outcome by_cudss(const cudss_api& api, const runtime::sparse_system& s, void* x);
  outcome by_qr(const cusolver_sparse_api& api, const runtime::sparse_system& s, void* x);

  int device_;
  std::function<void()> release_memory_;
  std::mutex mutex_;
  void *cudss_ = nullptr, *cusolver_ = nullptr, *description_ = nullptr;
};

}  // namespace sinter::cuda
