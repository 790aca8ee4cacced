// The backends of meshes: each stands for several devices, and has no memory of its own (src/dist).
#pragma once
#include <memory>

#include "runtime/backend.hpp"

namespace sinter::runtime {

/// Gives mesh number `index` its backend, which stays for the process. Thread safe.
void install_mesh(int index, std::unique_ptr<backend> b);

}  // namespace sinter::runtime
