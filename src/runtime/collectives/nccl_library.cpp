// Opening NCCL.
#include "runtime/collectives/nccl_library.hpp"

#include <atomic>
#include <string>

#include "platform/host_libraries.hpp"
#include "runtime/collectives/hooks.hpp"

namespace sinter::runtime {
namespace {

std::atomic<const nccl_api*> replacement{nullptr};

const platform::optional_library<nccl_api>& opened() {
  static const auto& library = platform::open_library<nccl_api>(platform::nccl_place());
  return library;
}

}  // namespace

const nccl_api& nccl(const char* function) {
  if (const nccl_api* const api = replacement.load()) return *api;
  return opened().usable_by(function);
}

bool has_nccl() { return replacement.load() || opened().usable; }

std::string nccl_version(const nccl_api& api) {
  int code = 0;
  if (api.ncclGetVersion(&code) != nccl_success || code < 10000) return "NCCL";
  return "NCCL " + std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

void set_nccl_for_tests(const nccl_api* api) noexcept { replacement = api; }
bool is_nccl_replaced() noexcept { return replacement.load() != nullptr; }

}  // namespace sinter::runtime
