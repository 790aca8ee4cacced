// NVRTC: from CUDA C++ to the code of a GPU.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::jit {

/// How much NVRTC optimises; without fast_math the results have the same bits. `some` omits passes that take long and
/// gain little; `little` also leaves loops as they are written, so that arrays which unrolled code keeps in registers lie
/// in local memory.
enum class optimisation : std::uint8_t { full, some, little };

/// Compiles CUDA C++ to a cubin for `arch` (90 for sm_90) with NVRTC, through the disk cache. Needs NVRTC but no GPU.
/// Throws compile_error, or device_error if NVRTC cannot be loaded (with each library tried).
struct nvrtc_options {
  int arch = 90;
  bool fast_math = false;
  optimisation level = optimisation::full;
};
struct cubin {
  std::vector<char> bytes;
  std::string log;
  bool from_disk = false;
};
cubin compile_cuda(const std::string& source, const nvrtc_options& options);

/// A source that is generated only after a cache miss.
struct cuda_unit {
  std::string name;                     // for messages
  std::string identity;                 // units of one identity have the same source in all processes and versions
  bool is_source = false;               // the identity is the source; users' text in it may include files
  std::size_t weight = 0;               // estimate of its compile time: the longest begins first
  std::function<std::string()> source;  // may be called on another thread
  nvrtc_options options;
};
/// Compiles several units in parallel, on as many threads as there are cores. Throws the error of the first failed
/// unit.
std::vector<cubin> compile_cuda(std::span<const cuda_unit> units);
/// From the disk cache only.
std::optional<cubin> load_cuda(const cuda_unit& unit);
bool nvrtc_available(std::string* why_not = nullptr);
/// Loads NVRTC on a background thread, so that the first compilation does not wait for it. Safe to call repeatedly.
void warm_up_nvrtc();

}  // namespace sinter::jit
