// Functions that run at once (sorts, products, scans, transforms, ...) on distributed arrays.
#pragma once

namespace sinter::sharding {

/// Listens for calls on arrays of meshes (ops/base/opaque_call.hpp), once.
void set_interceptor();

}  // namespace sinter::sharding
