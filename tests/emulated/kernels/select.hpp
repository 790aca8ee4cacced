// The kernels of selections as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

struct selection_kernels {
  int tile, warps;
  void (*pack_flags)(const unsigned char* flags, std::int64_t count, std::int64_t tiles, unsigned* words,
                     std::int64_t* counts);
  void (*count_words)(const unsigned* words, std::int64_t tiles, std::int64_t* counts);
  void (*bytes)(const std::uint8_t* from, const unsigned* given, std::int64_t packed, const unsigned* made,
                const std::int64_t* ends, std::int64_t tiles, std::uint8_t* to);
  void (*words)(const std::uint64_t* from, const unsigned* given, std::int64_t packed, const unsigned* made,
                const std::int64_t* ends, std::int64_t tiles, std::uint64_t* to);
  void (*positions)(const unsigned* given, std::int64_t packed, const unsigned* made, const std::int64_t* ends,
                    std::int64_t tiles, std::int64_t* to);
};
extern const selection_kernels selection;

}  // namespace emulated
