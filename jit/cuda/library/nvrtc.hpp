// The NVRTC library, opened on first use, and its programs. Only for builds with the CUDA toolkit.
#pragma once
#include <nvrtc.h>

#include <string>
#include <vector>

#include "platform/optional_library.hpp"

namespace sinter::jit::nvrtc {

// clang-format off
#define SINTER_NVRTC_FUNCTIONS(F)                                                                             \
  F(nvrtcVersion) F(nvrtcGetErrorString) F(nvrtcCreateProgram) F(nvrtcDestroyProgram) F(nvrtcCompileProgram)  \
  F(nvrtcGetCUBINSize) F(nvrtcGetCUBIN) F(nvrtcGetProgramLogSize) F(nvrtcGetProgramLog) F(nvrtcGetPTXSize)    \
  F(nvrtcGetPTX) F(nvrtcAddNameExpression) F(nvrtcGetLoweredName)
// clang-format on

SINTER_FUNCTION_TABLE(nvrtc_functions, SINTER_NVRTC_FUNCTIONS);

struct nvrtc_api : nvrtc_functions {
  /// Refuses versions that are too old.
  bool resolve(const platform::dynamic_library& library, std::string& error);
};
using nvrtc_library = platform::optional_library<nvrtc_api>;

/// Opens it if necessary.
const nvrtc_library& library();
/// Throws device_error if it cannot be used.
const nvrtc_api& usable_api();
/// Identifies the NVRTC that would compile, without loading it. If only a name is known, it serves as the version.
const std::string& library_identity();
/// The folder that holds it, symbolic links resolved; empty if only a name is known. Does not load it.
std::string library_folder();

/// Throws device_error for failures unrelated to the source.
void check(const nvrtc_api& api, nvrtcResult result, const char* call);

class nvrtc_program {
 public:
  nvrtc_program(const nvrtc_api& api, const std::string& source, const char* file = "kernel.cu");
  ~nvrtc_program() { api_.nvrtcDestroyProgram(&program_); }
  nvrtc_program(const nvrtc_program&) = delete;
  nvrtc_program& operator=(const nvrtc_program&) = delete;

  /// Before compile(): a kernel or variable whose name in the compiled code is requested.
  void add_name(const std::string& expression);
  nvrtcResult compile(std::vector<std::string> options);
  std::string log() const;
  /// The cubin; empty if the options requested a virtual architecture.
  std::vector<char> binary() const;
  /// The PTX, without the terminating zero.
  std::vector<char> ptx() const;
  /// After compile(): the name in the compiled code.
  std::string lowered_name(const std::string& expression) const;

 private:
  const nvrtc_api& api_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace sinter::jit::nvrtc
