// runtime::sparse over the plain functions that nvcc compiled.
#include "backends/cuda/sparse/sparse.hpp"

#include <string>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/sparse/device_sparse.hpp"
#include "backends/cuda/sparse/direct_solver.hpp"
#include "sinter/error.hpp"

namespace sinter::cuda {
namespace {

using runtime::sparse_matrix;
using runtime::sparse_product;

device::sparse_job job_of(const sparse_matrix& a, const sparse_product& p) {
  device::sparse_job j;
  j.type = static_cast<device::element>(a.type);
  j.wide = a.index == dtype::i64;
  j.rows = a.rows;
  j.columns = a.columns;
  j.entries = a.entries;
  j.longest = a.longest;
  j.width = p.width;
  j.data = a.data;
  j.indices = a.indices;
  j.indptr = a.indptr;
  j.x = p.x;
  j.y = p.y;
  j.alpha[0] = p.alpha.real(), j.alpha[1] = p.alpha.imag();
  j.beta[0] = p.beta.real(), j.beta[1] = p.beta.imag();
  return j;
}

class cuda_sparse final : public runtime::sparse {
 public:
  explicit cuda_sparse(const sparse_target& t) : target_(t), direct_(t.device, t.release_memory) {}

  std::size_t multiply_scratch(const sparse_matrix& a, const sparse_product& p) const override {
    return device::sparse_multiply_scratch(job_of(a, p));
  }
  void multiply(const sparse_matrix& a, const sparse_product& p, void* result, void* scratch) override {
    if (p.transposed) throw device_error("[matmul] transposed sparse products are given as products of the transpose");
    run("matmul",
        [&](const device::context& here) { return device::sparse_multiply(here, job_of(a, p), result, scratch); });
  }

  bool multiplies_normal(const sparse_matrix& a) const override {
    check(cudaSetDevice(target_.device), "cudaSetDevice");
    return device::can_multiply_normal(job_of(a, {.x = a.data}));  // of some x
  }
  void multiply_normal(const sparse_matrix& a, const runtime::normal_product& p, void* result) override {
    run("matmul", [&](const device::context& here) {
      return device::sparse_multiply_normal(here, job_of(a, {.x = p.x, .y = p.y}), p.other, p.length, result);
    });
  }

  bool transposes(const sparse_matrix& a) const override { return device::can_transpose(a.entries, a.columns); }
  std::size_t transpose_scratch(const sparse_matrix& a, std::size_t /*bytes*/) const override {
    check(cudaSetDevice(target_.device), "cudaSetDevice");
    std::size_t bytes = 0;
    check(device::transpose_scratch(context(), a.entries, a.columns, bytes), "transpose");
    return bytes;
  }
  void transpose(const sparse_matrix& a, std::size_t bytes, void* indptr, void* indices, void* data,
                 void* scratch) override {
    device::transpose_job j;
    j.wide = a.index == dtype::i64;
    j.bytes = static_cast<int>(bytes);
    j.rows = a.rows, j.columns = a.columns, j.entries = a.entries;
    j.data = a.data, j.indices = a.indices, j.indptr = a.indptr;
    j.new_data = data, j.new_indices = indices, j.new_indptr = indptr;
    run("transpose", [&](const device::context& here) { return device::transpose(here, j, scratch); });
  }

  bool sorts_copies(const sparse_matrix& a) const override {
    return device::can_sort_rows(a.rows, a.entries, a.longest);
  }
  void sort_copies(const sparse_matrix& a, std::size_t bytes, void* indices, void* data) override {
    device::row_sort_job j;
    j.wide = a.index == dtype::i64;
    j.bytes = static_cast<int>(bytes);
    j.rows = a.rows, j.entries = a.entries;
    j.data = a.data, j.indices = a.indices, j.indptr = a.indptr;
    j.new_data = data, j.new_indices = indices;
    run("sort_indices", [&](const device::context& here) { return device::sort_rows(here, j); });
  }

  bool solves(const sparse_matrix& a, std::int64_t columns) const override { return direct_.takes(a, columns); }
  bool solve(const runtime::sparse_system& s, void* x) override {
    check_usable();
    check(cudaSetDevice(target_.device), "cudaSetDevice");
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    return direct_.solve(s, x);
  }

 private:
  device::context context() const { return {current_stream(target_.device), target_.multiprocessors}; }
  /// Enqueues what `f` launches in the current stream.
  template <class F>
  void run(const char* function, const F& f) {
    check_usable();
    check(cudaSetDevice(target_.device), "cudaSetDevice");
    const cudaError_t status = f(context());
    if (status == cudaErrorNoKernelImageForDevice) {
      (void)cudaGetLastError();
      throw device_error("[" + std::string(function) + "] this build has device code for the CUDA architectures " +
                         SINTER_DEVICE_ARCHITECTURES +
                         " only, which the GPU cannot run; build with SINTER_CUDA_ARCHITECTURES");
    }
    check(status, function);
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    after_enqueue(target_.device, function);
  }

  sparse_target target_;
  direct_solver direct_;
};

}  // namespace

std::unique_ptr<runtime::sparse> make_sparse(const sparse_target& target) {
  return std::make_unique<cuda_sparse>(target);
}

}  // namespace sinter::cuda
