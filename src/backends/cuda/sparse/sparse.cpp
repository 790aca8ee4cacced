// runtime::sparse over the plain functions that nvcc compiled.
#include "backends/cuda/sparse/sparse.hpp"

#include <string>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/driver/stream.hpp"
#include "backends/cuda/sparse/device_sparse.hpp"
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
  j.entries = a.entries;
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
  explicit cuda_sparse(const sparse_target& t) : target_(t) {}

  std::size_t multiply_scratch(const sparse_matrix& a, const sparse_product& p) const override {
    return device::sparse_multiply_scratch(job_of(a, p));
  }
  void multiply(const sparse_matrix& a, const sparse_product& p, void* result, void* scratch) override {
    if (p.transposed) throw device_error("[matmul] transposed sparse products are given as products of the transpose");
    check_usable();
    check(cudaSetDevice(target_.device), "cudaSetDevice");
    const device::context here{current_stream(target_.device), target_.multiprocessors};
    const cudaError_t status = device::sparse_multiply(here, job_of(a, p), result, scratch);
    if (status == cudaErrorNoKernelImageForDevice) {
      (void)cudaGetLastError();
      throw device_error(std::string("[matmul] this build has device code for the CUDA architectures ") +
                         SINTER_DEVICE_ARCHITECTURES +
                         " only, which the GPU cannot run; build with SINTER_CUDA_ARCHITECTURES");
    }
    check(status, "matmul");
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    after_enqueue(target_.device, "matmul");
  }

 private:
  sparse_target target_;
};

}  // namespace

std::unique_ptr<runtime::sparse> make_sparse(const sparse_target& target) {
  return std::make_unique<cuda_sparse>(target);
}

}  // namespace sinter::cuda
