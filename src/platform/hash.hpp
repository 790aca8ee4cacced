// A 128-bit hash of bytes (MurmurHash3 x64, public domain): names of cache entries and checksums. Not cryptographic: a
// lookup by hash must compare the bytes as well.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sinter::platform {

struct hash128 {
  std::uint64_t lo = 0, hi = 0;
  friend bool operator==(const hash128&, const hash128&) = default;
};

namespace detail {

constexpr std::uint64_t hash_mix(std::uint64_t k) noexcept {
  k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdULL;
  k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return k ^ (k >> 33);
}

inline constexpr std::uint64_t hash_c1 = 0x87c37b91114253d5ULL;
inline constexpr std::uint64_t hash_c2 = 0x4cf5ad432745937fULL;

constexpr std::uint64_t hash_first(std::uint64_t k) noexcept { return std::rotl(k * hash_c1, 31) * hash_c2; }
constexpr std::uint64_t hash_second(std::uint64_t k) noexcept { return std::rotl(k * hash_c2, 33) * hash_c1; }

}  // namespace detail

inline hash128 hash_bytes(std::string_view bytes, hash128 seed = {}) noexcept {
  std::uint64_t h1 = seed.lo, h2 = seed.hi;
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 16; left -= 16, p += 16) {
    std::uint64_t block[2];
    std::memcpy(block, p, 16);
    h1 = (std::rotl(h1 ^ detail::hash_first(block[0]), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ detail::hash_second(block[1]), 31) + h1) * 5 + 0x38495ab5;
  }
  std::uint64_t tail[2] = {0, 0};
  if (left != 0) std::memcpy(tail, p, left);
  h2 ^= detail::hash_second(tail[1]) ^ bytes.size();
  h1 ^= detail::hash_first(tail[0]) ^ bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = detail::hash_mix(h1);
  h2 = detail::hash_mix(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

/// For tables whose keys are bytes.
struct bytes_hash {
  std::size_t operator()(const std::string& key) const noexcept { return static_cast<std::size_t>(hash_bytes(key).lo); }
};

/// 32 hexadecimal digits.
inline std::string to_hex(hash128 h) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[static_cast<std::size_t>(15 - i)] = digits[(h.hi >> (4 * i)) & 15];
    text[static_cast<std::size_t>(31 - i)] = digits[(h.lo >> (4 * i)) & 15];
  }
  return text;
}

}  // namespace sinter::platform
