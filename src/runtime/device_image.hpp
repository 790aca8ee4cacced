// Compiled images: what kind of file one is, and the kernels and variables in it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

enum class image_kind { none, cubin, fatbin, ptx };
/// What a file holds, by its first bytes; PTX by its first directive.
image_kind image_kind_of(std::string_view bytes) noexcept;
/// Names in a compiled image, as its code has them (mangled).
struct image_symbols {
  std::vector<std::string> kernels, variables;
};
/// Nothing where the image cannot be read (a fatbin, a damaged file).
std::optional<image_symbols> symbols_of(std::string_view image);

}  // namespace sinter::runtime
