// Transfers between the GPUs of the machine, by copies and by NCCL.
#include "gpu/gpu.hpp"

#include "runtime/collectives/cases.hpp"
#include "runtime/collectives/nccl_library.hpp"

using namespace collectives_test;

namespace {

bool too_few() {
  if (gpu_test::no_gpu()) return true;
  const int count = sinter::device_count(sinter::device_kind::cuda);
  if (count >= 2) return false;
  MESSAGE("left out: transfers between GPUs need two, and there is " << count);
  return true;
}

std::vector<runtime::backend*> first_gpus(int n) {
  std::vector<runtime::backend*> all;
  for (int k = 0; k < n; ++k) all.push_back(&runtime::get_backend({runtime::device_kind::cuda, k}));
  return all;
}

}  // namespace

TEST_CASE("collectives between GPUs: copies from device to device") {
  if (too_few()) return;
  for (int n = 2; n <= sinter::device_count(sinter::device_kind::cuda); n *= 2) {
    CAPTURE(n);
    const auto c = runtime::open_peer_copies(first_gpus(n));
    check_everything(*c);
    check_reductions(*c);
  }
}

TEST_CASE("collectives between GPUs: NCCL") {
  if (too_few()) return;
  if (!runtime::has_nccl()) {
    MESSAGE("left out: there is no NCCL (libnccl2)");
    return;
  }
  for (int n = 2; n <= sinter::device_count(sinter::device_kind::cuda); n *= 2) {
    CAPTURE(n);
    const auto c = runtime::open_nccl(first_gpus(n));
    MESSAGE(c->transport() << ", " << n << " GPUs");
    check_everything(*c);
    check_reductions_of<std::int32_t>(*c, {300, 100003});
    check_reductions_of<std::int16_t>(*c, {300});
    check_reductions_of<bool>(*c, {300});
    if (n == 2) check_reductions(*c);  // of two parts there is one order
    c->check();
  }
}
