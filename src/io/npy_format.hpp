// The header of a .npy file: NumPy's format versions 1.0, 2.0 and 3.0, read and written. No arrays here: sizes are
// checked against what the source may hold before memory is allocated.
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
  bool fortran = false;  // they lie in Fortran order
  core::dims shape;
  std::uint64_t offset = 0;  // bytes before the first element
  std::uint64_t bytes = 0;   // of all elements
};

/// Reads the header; the source is then at the first element, and has all of them unless its size is unknown.
/// `raw_type`: what two-byte elements without a type (V2) are; without it they are refused.
/// Throws io_error: no .npy file, an unknown version, a header that is none, elements that are not numbers, sizes that
/// do not fit.
npy_header read_npy_header(byte_source& from, std::optional<dtype> raw_type = {});

/// The elements, `count` bytes that begin at an element, as this machine and library have them: byte order swapped,
/// bools 0 or 1.
void normalise_elements(std::byte* elements, std::size_t bytes, const npy_header& h);

/// Magic, version and header as NumPy writes them.
std::string npy_header_bytes(dtype type, const core::dims& shape, bool fortran);

}  // namespace sinter::io
