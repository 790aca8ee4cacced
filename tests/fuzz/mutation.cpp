// Changes to files, and the page after them.
#include "fuzz/mutation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace sinter::fuzz {
namespace {

constexpr std::size_t longest = 1 << 16;

void put_number(std::string& s, std::size_t at, random_numbers& random) {
  static constexpr std::uint64_t numbers[] = {0,
                                              1,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x7fff,
                                              0x8000,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000u,
                                              0xffffffffu,
                                              0x7fffffffffffffffu,
                                              0x8000000000000000u,
                                              ~std::uint64_t{0}};
  const std::uint64_t v = numbers[random.below(std::size(numbers))];
  const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << random.below(4), s.size() - at);
  std::memcpy(&s[at], &v, bytes);
}

void change(std::string& s, const std::vector<std::string>& seeds, const std::vector<std::string>& words,
            random_numbers& random) {
  // Nearer to the beginning, where headers are, half of the time.
  const std::size_t range = random.below(2) == 0 ? std::min<std::size_t>(s.size(), 80) : s.size();
  const std::size_t at = range == 0 ? 0 : random.below(range);
  const std::string& word = words[random.below(words.size())];
  switch (s.empty() ? 6 : random.below(9)) {
    case 0: s[at] = static_cast<char>(s[at] ^ (1 << random.below(8))); return;
    case 1: s[at] = static_cast<char>(random()); return;
    case 2: put_number(s, at, random); return;
    case 3: s.erase(at, 1 + random.below(8)); return;
    case 4: s.resize(at); return;
    case 5: s.insert(at, s.substr(at, 1 + random.below(32))); return;
    case 6: s.insert(at, word); return;
    case 7: s.replace(at, std::min(word.size(), s.size() - at), word); return;
    default: {
      const std::string& other = seeds[random.below(seeds.size())];
      s = s.substr(0, at) + other.substr(std::min(at, other.size()));
    }
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    std::uint64_t number) {
  random_numbers random(number);
  std::string s = seeds[random.below(seeds.size())];
  for (std::size_t n = 1 + random.below(4); n > 0; --n) change(s, seeds, words, random);
  if (s.size() > longest) s.resize(longest);
  return s;
}

guarded_memory::guarded_memory(std::size_t most) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  room_ = (most + page_ - 1) / page_ * page_;
  void* const p = mmap(nullptr, room_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(static_cast<std::byte*>(p) + room_, page_, PROT_NONE) != 0) throw std::bad_alloc();
  at_ = static_cast<std::byte*>(p);
}

guarded_memory::~guarded_memory() { munmap(at_, room_ + page_); }

std::span<const std::byte> guarded_memory::hold(const std::string& bytes) {
  if (bytes.size() > room_) throw std::bad_alloc();
  std::byte* const begin = at_ + room_ - bytes.size();
  if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
  return {begin, bytes.size()};
}

}  // namespace sinter::fuzz
