// cuRAND called as its manual says, by the generator that the manual recommends for speed.
#include <memory>
#include <stdexcept>
#include <string>

#include "linalg_tour/bare.hpp"

#ifdef LINALG_TOUR_CURAND
#include <curand.h>
#endif

namespace linalg_tour {

#ifdef LINALG_TOUR_CURAND

namespace {

void check(curandStatus_t status, const char* call) {
  if (status != CURAND_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + " reports " + std::to_string(static_cast<int>(status)));
}

class normals {
 public:
  explicit normals(std::int64_t count)
      : memory_(sn::zeros(count, sn::float32)), at_(memory_.data<float>()), count_(static_cast<std::size_t>(count)) {
    check(curandCreateGenerator(&generator_, CURAND_RNG_PSEUDO_PHILOX4_32_10), "curandCreateGenerator");
  }
  normals(const normals&) = delete;
  normals& operator=(const normals&) = delete;
  ~normals() { (void)curandDestroyGenerator(generator_); }
  void run() const { check(curandGenerateNormal(generator_, at_, count_, 0, 1), "curandGenerateNormal"); }

 private:
  ndarray memory_;
  float* at_;
  std::size_t count_;
  curandGenerator_t generator_{};
};

}  // namespace

bare_call bare_normal(std::int64_t count) {
  // Numbers are made in pairs.
  if (sn::default_device().kind != sn::device_kind::cuda || count % 2 != 0) return {};
  const auto made = std::make_shared<normals>(count);
  return [made] { made->run(); };
}

#else

bare_call bare_normal(std::int64_t) { return {}; }

#endif

}  // namespace linalg_tour
