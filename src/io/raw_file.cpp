// Elements as plain bytes.
#include "sinter/raw_file.hpp"

#include <algorithm>

#include "io/byte_source.hpp"
#include "io/replace_file.hpp"
#include "ops/base/access.hpp"
#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {
namespace {

/// A vector on the device that was asked for. Bytes of bools other than 1 are true.
ndarray vector_of(std::span<const std::byte> bytes, dtype type, const std::optional<device>& device) {
  const auto n = static_cast<std::int64_t>(bytes.size() / itemsize(type));
  const dtype stored = is_bool(type) ? dtype::u8 : type;
  const ndarray x = ops::ndarray_access::make(
      graph::from_host(bytes.data(), core::dims{n}, stored, ops::to_id(device.value_or(default_device()))));
  return is_bool(type) ? not_equal(x, 0) : x;
}

}  // namespace

ndarray frombuffer(std::span<const std::byte> buffer, dtype type, const raw_bytes_kw& kw) {
  const auto size = static_cast<std::int64_t>(buffer.size()), width = static_cast<std::int64_t>(itemsize(type));
  if (kw.offset < 0 || kw.offset > size)
    ops::fail<value_error>("frombuffer", "offset ", kw.offset, " of a buffer of ", size, " bytes");
  const std::int64_t left = size - kw.offset;
  if (kw.count < 0 && left % width != 0)
    ops::fail<value_error>("frombuffer", left, " bytes are no whole number of ", type);
  if (kw.count > left / width)
    ops::fail<value_error>("frombuffer", kw.count, " elements of ", type, " from ", left, " bytes");
  const std::int64_t n = kw.count < 0 ? left / width : kw.count;
  return vector_of(buffer.subspan(static_cast<std::size_t>(kw.offset), static_cast<std::size_t>(n * width)), type,
                   kw.device);
}

ndarray fromfile(const std::string& path, dtype type, const raw_bytes_kw& kw) {
  if (kw.offset < 0) ops::fail<value_error>("fromfile", "offset ", kw.offset, " is negative");
  io::file_source file(path, ops::message("fromfile", "'", path, "'"));
  const auto size = static_cast<std::int64_t>(file.size()), width = static_cast<std::int64_t>(itemsize(type));
  const std::int64_t skipped = std::min(kw.offset, size), all = (size - skipped) / width;
  const std::int64_t n = kw.count < 0 ? all : std::min(kw.count, all);
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::max(skipped, n * width)));
  file.read(bytes.data(), static_cast<std::size_t>(skipped));
  bytes.resize(static_cast<std::size_t>(n * width));
  file.read(bytes.data(), bytes.size());
  return vector_of(bytes, type, kw.device);
}

std::vector<std::byte> tobytes(const ndarray& x) {
  const graph::array_view& v = ops::view_of(x, "tobytes");
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.size()) * itemsize(v.type));
  graph::copy_to_host(v, bytes.data());
  return bytes;
}

void tofile(const ndarray& x, const std::string& path) {
  const std::vector<std::byte> bytes = tobytes(x);
  io::replace_file file(path, ops::message("tofile", "'", path, "'"));
  file.write(bytes.data(), bytes.size());
  file.finish();
}

}  // namespace sinter::inline v0
