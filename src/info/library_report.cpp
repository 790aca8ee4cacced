// Tries to open each library, as its first user would.
#include "info/library_report.hpp"

#include <dlfcn.h>
#include <link.h>

#include "platform/host_libraries.hpp"
#include "runtime/collectives/mpi_library.hpp"
#include "runtime/collectives/nccl_library.hpp"
#include "sinter/error.hpp"

namespace sinter::info {
namespace {

/// The file of a handle.
std::string path_of(void* handle) {
  link_map* map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name ? map->l_name : "";
}

/// A library whose headers the build did not have, so that it is never opened.
library_state left_out(std::string title, const std::string& why) { return {std::move(title), "", "", why, ""}; }

/// Of the libraries between processes and GPUs, whose versions must fit each other.
void note_versions(std::vector<library_state>& all) {
  for (library_state& l : all) {
    if (l.path.empty() || (l.title != "MPI" && l.title != "NCCL")) continue;
    try {
      l.version = l.title == "MPI" ? runtime::mpi("sinter_info").version()
                                   : runtime::nccl_version(runtime::nccl("sinter_info"));
    } catch (const error& e) {
      l.version = std::string("cannot be used: ") + e.what();
    }
  }
}

}  // namespace

library_state look_for(const platform::library_place& place) {
  library_state state{place.title, place.sonames.front(), "", "", ""};
  std::string said;
  for (const std::string& candidate : platform::candidates(place)) {
    // Lazily: no function is called, and binding all of a large library takes long.
    if (void* const handle = ::dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      state.path = path_of(handle);
      if (state.path.empty()) state.path = candidate;
      state.soname = candidate.substr(candidate.rfind('/') + 1);
      return state;
    }
    const char* const message = ::dlerror();
    said += (said.empty() ? "" : "; ") + std::string(message ? message : candidate + ": cannot be opened");
  }
  state.problem = "looked for in";
  for (const std::string& folder : place.folders) state.problem += " " + folder + ",";
  if (place.folders.empty()) state.problem += " nothing but";
  state.problem += " the dynamic linker's folders; " + said + "; " + place.remedy;
  return state;
}

std::vector<library_state> look_for_libraries() {
  std::vector<library_state> all;
  const auto toolkit = [&](const char* title, const char* soname) {
    if (*soname != '\0') all.push_back(look_for(platform::toolkit_library(title, {soname})));
    else all.push_back(left_out(title, "the toolkit of the build had no headers of it"));
  };
#ifdef SINTER_HAS_CUDA
  toolkit("NVRTC", SINTER_NVRTC_SONAME);
#ifndef SINTER_CUBLAS_SONAME
#define SINTER_CUBLAS_SONAME ""
#endif
#ifndef SINTER_CUSOLVER_SONAME
#define SINTER_CUSOLVER_SONAME ""
#endif
#ifndef SINTER_CUFFT_SONAME
#define SINTER_CUFFT_SONAME ""
#endif
#ifndef SINTER_CURAND_SONAME
#define SINTER_CURAND_SONAME ""
#endif
  toolkit("cuBLAS", SINTER_CUBLAS_SONAME);
  toolkit("cuSOLVER", SINTER_CUSOLVER_SONAME);
  toolkit("cuFFT", SINTER_CUFFT_SONAME);
  toolkit("cuRAND", SINTER_CURAND_SONAME);
#else
  for (const char* title : {"NVRTC", "cuBLAS", "cuSOLVER", "cuFFT", "cuRAND"})
    all.push_back(left_out(title, "sinter was built without the CUDA toolkit"));
  (void)toolkit;
#endif
  for (const auto& place : {platform::openblas_place(), platform::fftw_place(true), platform::libzip_place(),
                            runtime::mpi_place(), platform::nccl_place()})
    all.push_back(look_for(place));
  note_versions(all);
  return all;
}

}  // namespace sinter::info
