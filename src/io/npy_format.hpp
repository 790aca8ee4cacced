// The header of a .npy file: NumPy's format versions 1.0, 2.0 and 3.0, read and written. Independent of arrays: sizes
// are checked against the available bytes before memory is allocated.
#pragma once
#include <optional>
#include <string>

#include "core/dims.hpp"
#include "io/byte_source.hpp"
#include "sinter/dtype.hpp"

namespace sinter::io {

struct npy_header {
  dtype type{};
  bool swapped = false;  // the elements are big-endian
  bool fortran = false;  // they are in Fortran order
  core::dims shape;
  std::uint64_t offset = 0;  // bytes before the first element
  std::uint64_t bytes = 0;   // of all elements
};

/// Reads the header; the source is then at the first element, and has all of them unless its size is unknown.
/// `raw_type`: the dtype of two-byte elements without a type (V2), which are rejected otherwise. Throws io_error: not a
/// .npy file, an unknown version, a malformed header, elements that are not numbers, inconsistent sizes.
npy_header read_npy_header(byte_source& from, std::optional<dtype> raw_type = {});

/// Converts `bytes` bytes of whole elements to this machine's and the library's representation: byte order swapped,
/// bools 0 or 1.
void normalise_elements(std::byte* elements, std::size_t bytes, const npy_header& h);

/// Magic, version and header as written by NumPy.
std::string npy_header_bytes(dtype type, const core::dims& shape, bool fortran);

}  // namespace sinter::io
