// Arrays from and to .npy data, independent of the source and destination.
#pragma once
#include <iosfwd>
#include <memory>

#include "io/npy_format.hpp"
#include "sinter/io.hpp"

namespace sinter::io {

/// The array in the source, which is read to the end of its elements.
ndarray read_npy(byte_source& from, const load_kw& kw);

/// The .npy representation of an array: header and elements, which stay in host memory for its lifetime.
struct npy_image {
  std::string header;
  const std::byte* elements = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<const void> keep;
};
/// Evaluates and synchronises; `function` is the caller's name in messages.
npy_image npy_image_of(const ndarray& x, const char* function);

/// "[load] 'x.npy'"
std::string title_of(const char* function, const std::string& path);

}  // namespace sinter::io
