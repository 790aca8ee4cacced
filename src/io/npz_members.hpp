// Members of an archive as bytes.
#pragma once
#include <string>
#include <vector>

#include "io/npy.hpp"

namespace sinter::io {

struct npz_member {
  std::string name;  // without ".npy"
  npy_image image;
};
/// Writes an archive, and adds ".npz" to a path that does not end so. Throws io_error.
void write_npz_members(const std::string& path, const std::vector<npz_member>& members, bool compress,
                       const char* function);

}  // namespace sinter::io
