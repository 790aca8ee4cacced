// A cubin is an ELF file whose kernels carry a mark among their symbols; PTX is text.
#include "runtime/device_image.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>

#include "core/identifier.hpp"

namespace sinter::runtime {
namespace {

constexpr unsigned char kernel_mark = 0x10;  // STO_CUDA_ENTRY in st_other

template <class T>
bool read_at(std::string_view image, std::uint64_t offset, T& to) noexcept {
  if (offset > image.size() || image.size() - offset < sizeof to) return false;
  std::memcpy(&to, image.data() + offset, sizeof to);
  return true;
}

std::string_view text_at(std::string_view image, const Elf64_Shdr& table, std::uint64_t index) noexcept {
  if (table.sh_offset > image.size() || index >= table.sh_size) return {};
  const std::string_view rest = image.substr(table.sh_offset, table.sh_size).substr(index);
  return rest.substr(0, rest.find('\0'));
}

std::optional<image_symbols> symbols_of_cubin(std::string_view image) {
  Elf64_Ehdr head;
  if (!read_at(image, 0, head) || head.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  const auto section = [&](std::uint64_t k, Elf64_Shdr& s) {
    return k < head.e_shnum && read_at(image, head.e_shoff + k * sizeof s, s);
  };
  Elf64_Shdr names;
  if (!section(head.e_shstrndx, names)) return std::nullopt;
  image_symbols found;
  for (std::uint64_t k = 0; k < head.e_shnum; ++k) {
    Elf64_Shdr table, strings;
    if (!section(k, table)) return std::nullopt;
    if (table.sh_type != SHT_SYMTAB) continue;
    if (!section(table.sh_link, strings)) return std::nullopt;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      Elf64_Shdr home;
      if (!read_at(image, table.sh_offset + at, symbol)) return std::nullopt;
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && symbol.st_other & kernel_mark) {
        found.kernels.emplace_back(text_at(image, strings, symbol.st_name));
      } else if (type == STT_OBJECT && section(symbol.st_shndx, home)) {
        const std::string_view where = text_at(image, names, home.sh_name);
        if (where.starts_with(".nv.global") || where.starts_with(".nv.constant3"))
          found.variables.emplace_back(text_at(image, strings, symbol.st_name));
      }
    }
  }
  return found;
}

/// Skips blanks and comments.
std::string_view next_token(std::string_view text) noexcept {
  for (;;) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(first == std::string_view::npos ? text.size() : first);
    std::size_t end = 0;
    if (text.starts_with("//")) end = text.find('\n');
    else if (text.starts_with("/*"))
      end = text.find("*/") == std::string_view::npos ? std::string_view::npos : text.find("*/") + 2;
    else return text;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
}

/// ".visible .const .align 4 .b8 table[64] = {...}": the last name before what follows the type.
std::string_view variable_of(std::string_view statement) noexcept {
  const std::string_view head = statement.substr(0, statement.find_first_of("[=;"));
  std::size_t end = head.size();
  while (end > 0 && !core::continues_symbol(head[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && core::continues_symbol(head[begin - 1])) --begin;
  return head.substr(begin, end - begin);
}

/// Statements at file scope: bodies of functions are skipped by their braces.
image_symbols symbols_of_ptx(std::string_view text) {
  image_symbols found;
  for (text = next_token(text); !text.empty(); text = next_token(text)) {
    const std::size_t line = text.find('\n');
    const std::string_view statement = text.substr(0, line);
    if (text[0] == '{') {
      int depth = 0;
      std::size_t at = 0;
      do {
        depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
      } while (++at < text.size() && depth > 0);
      text.remove_prefix(at);
      continue;
    }
    if (const std::size_t entry = statement.find(".entry "); entry != std::string_view::npos) {
      std::string_view name = statement.substr(entry + 7);
      name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
      std::size_t end = 0;
      while (end < name.size() && core::continues_symbol(name[end])) ++end;
      found.kernels.emplace_back(name.substr(0, end));
    } else if (!statement.starts_with(".param") && statement.find(".extern") == std::string_view::npos &&
               (statement.find(".const ") != std::string_view::npos ||
                statement.find(".global ") != std::string_view::npos)) {
      found.variables.emplace_back(variable_of(statement));
      const std::size_t end = text.find(';');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      continue;
    }
    text.remove_prefix(line == std::string_view::npos ? text.size() : line);
  }
  return found;
}

}  // namespace

image_kind image_kind_of(std::string_view bytes) noexcept {
  Elf64_Ehdr head;
  constexpr std::uint16_t cuda_machine = 190;
  if (read_at(bytes, 0, head) && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0)
    return head.e_machine == cuda_machine ? image_kind::cubin : image_kind::none;
  std::uint32_t magic = 0;
  if (read_at(bytes, 0, magic) && (magic == 0xBA55ED50u || magic == 0x466243B1u)) return image_kind::fatbin;
  const std::string_view first = next_token(bytes);
  return first.starts_with(".version") || first.starts_with(".target") ? image_kind::ptx : image_kind::none;
}

std::optional<image_symbols> symbols_of(std::string_view image) {
  switch (image_kind_of(image)) {
    case image_kind::cubin: return symbols_of_cubin(image);
    case image_kind::ptx: return symbols_of_ptx(image);
    default: return std::nullopt;
  }
}

}  // namespace sinter::runtime
