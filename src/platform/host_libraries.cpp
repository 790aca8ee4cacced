// The sonames of the libraries: Debian's and Ubuntu's are those of upstream.
#include "platform/host_libraries.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <dlfcn.h>

#include "platform/dynamic_library.hpp"

namespace sinter::platform {

library_place openblas_place(std::string title) {
  return host_library(std::move(title), {"libopenblas.so.0"}, "libopenblas0");
}

namespace {

/// The kernels for this processor, of which OpenBLAS has had the names for years; null: those that it takes are as good.
const char* kernels_for_this_processor() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
  if (wide) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

struct library_functions {
  char* (*corename)() = nullptr;
  void (*quit)() = nullptr;
  void (*init)() = nullptr;
};

void choose(const library_place& place) {
  const char* const wanted = kernels_for_this_processor();
  if (!wanted || std::getenv("OPENBLAS_CORETYPE")) return;
  for (const std::string& candidate : candidates(place)) {
    // Somebody else's calls may be running.
    if (void* const loaded = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      dlclose(loaded);
      return;
    }
    std::string error;
    const dynamic_library library = dynamic_library::open(candidate, error);
    if (!library) continue;
    library_functions f;
    if (!library.resolve(f.corename, "openblas_get_corename") || !library.resolve(f.quit, "gotoblas_dynamic_quit") ||
        !library.resolve(f.init, "gotoblas_dynamic_init"))
      return;
    if (!is_fallback_of_openblas(f.corename())) return;
    setenv("OPENBLAS_CORETYPE", wanted, 1);
    f.quit();
    f.init();
    unsetenv("OPENBLAS_CORETYPE");
    return;
  }
}

}  // namespace

bool is_fallback_of_openblas(std::string_view kernels) noexcept {
  constexpr std::string_view before_avx[] = {"Prescott", "Nehalem", "Barcelona", "Core2", "Generic"};
  return std::find(std::begin(before_avx), std::end(before_avx), kernels) != std::end(before_avx);
}

std::string openblas_kernels() {
  std::string error;
  for (const std::string& candidate : candidates(prepared_openblas_place())) {
    const dynamic_library library = dynamic_library::open(candidate, error);
    library_functions f;
    if (library && library.resolve(f.corename, "openblas_get_corename")) return f.corename();
  }
  return {};
}

library_place prepared_openblas_place(std::string title) {
  static const bool chosen = (choose(openblas_place()), true);
  static_cast<void>(chosen);
  return openblas_place(std::move(title));
}

library_place fftw_place(bool wide, bool threads) {
  const std::string name = std::string(wide ? "libfftw3" : "libfftw3f") + (threads ? "_threads" : "") + ".so.3";
  return host_library("FFTW", {name}, "libfftw3-double3 and libfftw3-single3");
}

library_place libzip_place() {
  // The functions in use are the same in both.
  return host_library("libzip", {"libzip.so.5", "libzip.so.4"}, "libzip4 or libzip5");
}

library_place superlu_place() { return host_library("SuperLU", {"libsuperlu.so.5"}, "libsuperlu5"); }

library_place mpi_place() {
  return host_library("MPI", {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"}, "openmpi-bin, or mpich");
}

library_place nccl_place() { return host_library("NCCL", {"libnccl.so.2"}, "libnccl2"); }

namespace {

using openblas_set_num_threads_type = void(int);
using openblas_get_num_threads_type = int();
// clang-format off
#define SINTER_OPENBLAS_SETTINGS(F) F(openblas_set_num_threads) F(openblas_get_num_threads)
// clang-format on
SINTER_DECLARED_TABLE(openblas_settings, SINTER_OPENBLAS_SETTINGS);

const optional_library<openblas_settings>& settings() {
  static const auto& opened = open_library<openblas_settings>(prepared_openblas_place());
  return opened;
}

std::mutex& settings_mutex() {
  static auto* m = new std::mutex;
  return *m;
}

}  // namespace

openblas_threads::openblas_threads(int threads) : lock_(settings_mutex()) {
  if (!settings().usable) return;
  before_ = settings().api.openblas_get_num_threads();
  if (before_ != threads) settings().api.openblas_set_num_threads(threads);
}

openblas_threads::~openblas_threads() {
  if (before_ != 0 && before_ != settings().api.openblas_get_num_threads())
    settings().api.openblas_set_num_threads(before_);
}

}  // namespace sinter::platform
