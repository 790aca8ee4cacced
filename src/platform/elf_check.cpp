// The parts of an ELF file that loading depends on: headers, segments, the dynamic section and its tables.
#include "platform/elf_check.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace sinter::platform {
namespace {

using header = ElfW(Ehdr);
using segment = ElfW(Phdr);
using section = ElfW(Shdr);
using entry = ElfW(Dyn);

constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;

bool lies_in(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) noexcept {
  return offset <= size && bytes <= size - offset;
}

template <class T>
T read_at(std::string_view bytes, std::uint64_t offset) noexcept {  // the caller has checked the range
  T to;
  std::memcpy(&to, bytes.data() + offset, sizeof to);
  return to;
}

class library {
 public:
  explicit library(std::string_view bytes) noexcept : bytes_(bytes) {}

  const char* damage() noexcept {
    if (bytes_.size() < sizeof head_) return "it is too short";
    head_ = read_at<header>(bytes_, 0);
    constexpr unsigned char word_size = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (std::memcmp(head_.e_ident, ELFMAG, SELFMAG) != 0 || head_.e_ident[EI_CLASS] != word_size ||
        head_.e_type != ET_DYN)
      return "it does not begin like one";
    // Linkers write the section table last, so it is missing in a truncated file.
    if (!has_sections()) return "its table of sections is missing";
    if (!has_segments()) return "a segment lies outside of it";
    return has_dynamic_section() ? "" : "its dynamic section leads outside of it";
  }

 private:
  bool has_sections() const noexcept {
    if (head_.e_shentsize != sizeof(section) || head_.e_shstrndx >= head_.e_shnum ||
        !lies_in(head_.e_shoff, std::uint64_t{head_.e_shnum} * sizeof(section), bytes_.size()))
      return false;
    const auto names = read_at<section>(bytes_, head_.e_shoff + head_.e_shstrndx * sizeof(section));
    return names.sh_type == SHT_STRTAB && lies_in(names.sh_offset, names.sh_size, bytes_.size());
  }
  segment segment_at(unsigned k) const noexcept {
    return read_at<segment>(bytes_, head_.e_phoff + k * sizeof(segment));
  }
  bool has_segments() const noexcept {
    if (head_.e_phentsize != sizeof(segment) ||
        !lies_in(head_.e_phoff, std::uint64_t{head_.e_phnum} * sizeof(segment), bytes_.size()))
      return false;
    unsigned loaded = 0;
    for (unsigned k = 0; k < head_.e_phnum; ++k) {
      const segment s = segment_at(k);
      if (s.p_type != PT_LOAD && s.p_type != PT_DYNAMIC) continue;
      if (!lies_in(s.p_offset, s.p_filesz, bytes_.size()) || s.p_filesz > s.p_memsz) return false;
      if (!lies_in(s.p_vaddr, s.p_memsz, most_memory)) return false;
      loaded += s.p_type == PT_LOAD ? 1 : 0;
    }
    return loaded > 0;
  }
  /// Whether addresses are in a segment that is loaded from the file; `offset` is their position in the file.
  bool in_file(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const noexcept {
    for (unsigned k = 0; k < head_.e_phnum; ++k) {
      const segment s = segment_at(k);
      if (s.p_type != PT_LOAD || address < s.p_vaddr || !lies_in(address - s.p_vaddr, bytes, s.p_filesz)) continue;
      offset = s.p_offset + (address - s.p_vaddr);
      return true;
    }
    return false;
  }
  bool has_dynamic_section() const noexcept {
    for (unsigned k = 0; k < head_.e_phnum; ++k) {
      const segment s = segment_at(k);
      std::uint64_t offset = 0;
      if (s.p_type == PT_DYNAMIC) return in_file(s.p_vaddr, s.p_filesz, offset) && has_tables(offset, s.p_filesz);
    }
    return false;
  }
  bool has_tables(std::uint64_t at, std::uint64_t bytes) const noexcept {
    std::uint64_t strings = 0, string_bytes = 0, symbols = 0, relocations = 0, relocation_bytes = 0, jumps = 0,
                  jump_bytes = 0, hashes = 0;
    bool ended = false;
    for (; bytes >= sizeof(entry) && !ended; at += sizeof(entry), bytes -= sizeof(entry)) {
      const auto e = read_at<entry>(bytes_, at);
      const std::uint64_t value = e.d_un.d_val;
      switch (e.d_tag) {
        case DT_NULL: ended = true; break;
        case DT_STRTAB: strings = value; break;
        case DT_STRSZ: string_bytes = value; break;
        case DT_SYMTAB: symbols = value; break;
        case DT_RELA:
        case DT_REL: relocations = value; break;
        case DT_RELASZ:
        case DT_RELSZ: relocation_bytes = value; break;
        case DT_JMPREL: jumps = value; break;
        case DT_PLTRELSZ: jump_bytes = value; break;
        case DT_HASH:
        case DT_GNU_HASH: hashes = value; break;
        default: break;
      }
    }
    std::uint64_t text = 0, unused = 0;
    return ended && string_bytes > 0 && in_file(strings, string_bytes, text) &&
           bytes_[text + string_bytes - 1] == '\0' && in_file(symbols, sizeof(ElfW(Sym)), unused) &&
           in_file(hashes, 16, unused) && (relocation_bytes == 0 || in_file(relocations, relocation_bytes, unused)) &&
           (jump_bytes == 0 || in_file(jumps, jump_bytes, unused));
  }

  std::string_view bytes_;
  header head_{};
};

}  // namespace

const char* damage_of_library(std::string_view bytes) noexcept { return library(bytes).damage(); }

}  // namespace sinter::platform
