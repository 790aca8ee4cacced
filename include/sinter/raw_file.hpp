// Elements as plain bytes, in C order and without a header: memory and files whose dtype and shape somebody else knows. Little-endian.
// Not part of sinter.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Keywords of frombuffer and fromfile: `count` elements (-1: all of them) from byte `offset` on.
struct raw_bytes_kw {
  kwonly _kw{};
  std::int64_t count = -1;
  std::int64_t offset = 0;
  std::optional<sinter::device> device{};
};

/// A vector of the elements in a buffer, copied (from_pointer makes a view). value_error: there are fewer bytes, or, of all, not a
/// whole number of elements.
ndarray frombuffer(std::span<const std::byte> buffer, dtype type = float64, const raw_bytes_kw& kw = {});
/// A vector of the elements in a file: at most `count`, as many whole ones as there are. io_error: the file cannot be read;
/// value_error: a negative offset.
ndarray fromfile(const std::string& path, dtype type = float64, const raw_bytes_kw& kw = {});
/// The elements' bytes in C order; evaluates and waits.
std::vector<std::byte> tobytes(const ndarray& x);
/// Writes them to a file, which is replaced when the new one is complete. io_error: it cannot be written.
void tofile(const ndarray& x, const std::string& path);

}  // namespace sinter::inline v0
