// Devices as users name them: "cpu", "cuda", "cuda:1".
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>

namespace sinter::inline v0 {

/// mesh: arrays whose elements are on several devices (sinter/dist.hpp).
enum class device_kind : std::uint8_t { cpu, cuda, mesh };

/// A device by kind and number; naming one does not touch it.
struct device {
  device_kind kind = device_kind::cpu;
  int index = 0;

  constexpr device() = default;
  /// Of any number: what does not fit int counts as one that no device has.
  constexpr device(device_kind k, std::int64_t i = 0) noexcept
      : kind(k),
        index(i < 0                                 ? -1
              : i > std::numeric_limits<int>::max() ? std::numeric_limits<int>::max()
                                                    : static_cast<int>(i)) {}
  /// From "cpu", "cuda" or "cuda:1"; throws device_error on anything else.
  device(std::string_view text);
  device(const char* text) : device(std::string_view(text)) {}
  friend constexpr bool operator==(const device&, const device&) = default;
  friend std::ostream& operator<<(std::ostream&, const device&);
};
inline constexpr device cpu{device_kind::cpu};
constexpr device cuda(std::int64_t i = 0) noexcept { return device(device_kind::cuda, i); }

/// "cpu", "cuda:0".
std::string to_string(const device& d);
/// The processor's or GPU's name. Throws device_error if the device is missing.
std::string description(const device& d);
/// How many devices of a kind there are; never throws because there is none.
int device_count(device_kind kind);

/// Where arrays are created when nothing else says: SINTER_DEVICE, else the first GPU, else the CPU.
device default_device();
/// Changes it for the process. Throws device_error if the device is missing.
void set_default_device(const device& d);

/// Waits until the device has finished everything launched on it; reports data errors of those kernels.
void synchronize();
void synchronize(const device& d);

/// A device pool in bytes: handed out, held from the system, the highest `used`, what could still be allocated.
struct memory_info {
  std::size_t used = 0, reserved = 0, peak = 0, available = 0;
};
memory_info memory(const device& d);

}  // namespace sinter::inline v0
