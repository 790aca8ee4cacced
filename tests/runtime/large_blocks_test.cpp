// Large blocks of a pool: split where memory runs out, joined when they are freed, and never given to a stream that
// has no record of pending uses of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/pool.hpp"
#include "sinter/error.hpp"

using namespace sinter::runtime;
using sinter::memory_error;

namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

/// Addresses without memory, side by side, so that neighbours from two allocations could be taken for one block.
class address_source final : public memory_source {
 public:
  struct state {
    std::size_t limit = SIZE_MAX, held = 0, synchronized = 0;
    std::map<std::uintptr_t, std::size_t> given{};  // address, bytes
    bool wrong = false;                             // something came back that was never given
  };
  explicit address_source(state& s) : s_(s) {}
  void* allocate(std::size_t bytes) noexcept override {
    if (bytes > s_.limit - s_.held) return nullptr;
    s_.held += bytes;
    s_.given.emplace(next_, bytes);
    next_ += bytes;
    return reinterpret_cast<void*>(next_ - bytes);
  }
  void release(void* p, std::size_t bytes) noexcept override {
    const auto at = s_.given.find(reinterpret_cast<std::uintptr_t>(p));
    if (at == s_.given.end() || at->second != bytes) {
      s_.wrong = true;
      return;
    }
    s_.held -= bytes;
    s_.given.erase(at);
  }
  std::size_t available() const noexcept override { return s_.limit - s_.held; }
  void synchronize() noexcept override { ++s_.synchronized; }

 private:
  state& s_;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
};

pool::options options(std::size_t keep = SIZE_MAX) {
  return {.name = "test memory", .large = 32 * mega, .keep_large = keep};
}
char* shifted(void* p, std::size_t bytes) { return static_cast<char*>(p) + bytes; }

/// A queue that does nothing.
class quiet_stream final : public stream {
 public:
  explicit quiet_stream(int number) : stream(get_backend({}), number, false) {}
};

}  // namespace

TEST_CASE("large blocks: cut where the system has no more, and one again when all parts are free") {
  address_source::state system{.limit = 200 * mega};
  pool p(std::make_unique<address_source>(system), options());
  void* const whole = p.allocate(200 * mega);
  p.deallocate(whole, 200 * mega);
  void* const a = p.allocate(40 * mega);
  void* const b = p.allocate(50 * mega);
  void* const c = p.allocate(110 * mega);
  CHECK(a == whole);
  CHECK(b == shifted(a, 40 * mega));
  CHECK(c == shifted(b, 50 * mega));
  CHECK(system.synchronized == 0);  // without a wait
  CHECK(p.figures().used == 200 * mega);
  CHECK(p.figures().reserved == 200 * mega);
  CHECK_THROWS_AS(p.allocate(32 * mega), memory_error);
  // In each order of coming back the whole is there again.
  for (const auto& order : {std::vector<int>{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    void* const parts[] = {a, b, c};
    const std::size_t sizes[] = {40 * mega, 50 * mega, 110 * mega};
    for (const int k : order) p.deallocate(parts[k], sizes[k]);
    CHECK(p.figures().used == 0);
    CHECK(p.allocate(200 * mega) == whole);
    p.deallocate(whole, 200 * mega);
    for (const int k : {0, 1, 2}) CHECK(p.allocate(sizes[k]) == parts[k]);
  }
  p.deallocate(b, 50 * mega);
  p.trim();  // a part cannot go back alone
  CHECK(p.figures().used == 150 * mega);
  CHECK(p.figures().reserved == 200 * mega);
  CHECK(p.figures().available == 50 * mega);
  CHECK(p.allocate(48 * mega) == b);  // little is wasted, so it is not split
  CHECK(p.figures().used == 200 * mega);
  p.deallocate(a, 40 * mega);
  p.deallocate(b, 48 * mega);
  p.deallocate(c, 110 * mega);
  p.trim();
  CHECK(system.held == 0);
  CHECK(!system.wrong);
}

TEST_CASE("large blocks: as long as the system has memory none is cut, and allocations side by side stay two") {
  address_source::state system{.limit = 300 * mega};
  pool p(std::make_unique<address_source>(system), options());
  void* const a = p.allocate(100 * mega);
  void* const b = p.allocate(100 * mega);
  CHECK(b == shifted(a, 100 * mega));
  p.deallocate(a, 100 * mega);
  p.deallocate(b, 100 * mega);
  CHECK(p.allocate(40 * mega) == shifted(b, 100 * mega));
  CHECK_THROWS_AS(p.allocate(280 * mega), memory_error);
  CHECK(p.figures().reserved == 40 * mega);  // both went back before it gave up
  CHECK(!system.wrong);
}

TEST_CASE("large blocks: small requests find room in what is left of large ones") {
  address_source::state system{.limit = 100 * mega};
  pool p(std::make_unique<address_source>(system), options());
  p.deallocate(p.allocate(100 * mega), 100 * mega);
  void* const held = p.allocate(60 * mega);
  void* const small = p.allocate(1000);
  CHECK(small == shifted(held, 60 * mega));
  CHECK(p.figures().used == 62 * mega);
  void* const other = p.allocate(3 * mega);
  CHECK(p.figures().used == 66 * mega);
  p.deallocate(small, 1000);
  p.deallocate(held, 60 * mega);
  CHECK(p.allocate(62 * mega) == held);
  p.deallocate(held, 62 * mega);
  p.deallocate(other, 3 * mega);
  CHECK(p.figures().used == 0);
  void* const plain = p.allocate(1000);  // and after that small blocks are the system's own again
  CHECK(p.figures().used == 1024);
  p.deallocate(plain, 1000);
  p.trim();
  CHECK(system.held == 0);
  CHECK(!system.wrong);
}

TEST_CASE("large blocks: what is more than may be kept goes back when the last part of it is free") {
  address_source::state system{.limit = 100 * mega};
  pool p(std::make_unique<address_source>(system), options(100 * mega));
  p.deallocate(p.allocate(100 * mega), 100 * mega);
  void* const a = p.allocate(40 * mega);
  void* const b = p.allocate(60 * mega);
  system.limit = 200 * mega;
  void* const c = p.allocate(80 * mega);
  p.deallocate(b, 60 * mega);
  p.deallocate(c, 80 * mega);  // 140 MiB free are too many
  CHECK(p.figures().reserved == 100 * mega);
  void* const d = p.allocate(60 * mega);
  CHECK(d == b);
  void* const e = p.allocate(80 * mega);
  p.deallocate(e, 80 * mega);
  p.deallocate(d, 60 * mega);  // too many, but only a part
  CHECK(p.figures().reserved == 180 * mega);
  p.deallocate(a, 40 * mega);
  CHECK(p.figures().reserved == 80 * mega);
  CHECK(!system.wrong);
}

// A model follows every byte range: which streams have used it since the last wait for all of them. A caller that
// gets memory must get a record of each of them, and no memory may be given out twice.
TEST_CASE("large blocks: random requests on several streams never overlap, and know who was there before") {
  struct live {
    std::size_t bytes, size;  // requested, and what the pool counts
    int owner;
  };
  struct past {  // streams that have used [from, to)
    std::uintptr_t from, to;
    std::set<int> by;
  };
  const std::size_t sizes[] = {500, 3 * mega, 31 * mega, 32 * mega, 33 * mega, 50 * mega, 90 * mega, 200 * mega};
  std::mt19937 random(5);
  std::size_t refused = 0, served = 0;
  for (int round = 0; round < 30; ++round) {
    address_source::state system{.limit = 400 * mega};
    std::vector<std::unique_ptr<quiet_stream>> streams;
    for (int k = 0; k < 4; ++k) streams.push_back(std::make_unique<quiet_stream>(k));
    pool p(std::make_unique<address_source>(system), options(round % 3 == 0 ? 100 * mega : SIZE_MAX));
    std::map<std::uintptr_t, live> all;
    std::vector<past> history;
    const auto forget = [&](std::uintptr_t from, std::uintptr_t to) {
      std::vector<past> kept;
      for (const past& h : history) {
        if (h.from < from) kept.push_back({h.from, std::min(h.to, from), h.by});
        if (h.to > to) kept.push_back({std::max(h.from, to), h.to, h.by});
      }
      history = kept;
    };
    const auto free_one = [&](std::map<std::uintptr_t, live>::iterator at) {
      use_list* uses = nullptr;
      std::set<int> by{at->second.owner};
      if (random() % 3 == 0) {  // another stream has read it
        const int reader = static_cast<int>(random() % 4);
        if (reader != at->second.owner) (uses = new use_list)->of(*streams[reader]).used = unknown_value;
        by.insert(reader);
      }
      history.push_back({at->first, at->first + at->second.size, by});
      p.deallocate(reinterpret_cast<void*>(at->first), at->second.bytes, *streams[at->second.owner], uses);
      all.erase(at);
    };
    for (int step = 0; step < 400; ++step) {
      if (random() % 100 < 3) {
        const int s = 1 + static_cast<int>(random() % 3);
        p.orphan_blocks(*streams[s]);
      } else if (random() % 100 < 2) {
        p.trim();
      } else if (!all.empty() && random() % 2) {
        free_one(std::next(all.begin(), static_cast<std::ptrdiff_t>(random() % all.size())));
      } else {
        const std::size_t bytes = sizes[random() % std::size(sizes)];
        const int number = static_cast<int>(random() % 4);
        stream* owner = streams[number].get();
        use_list* got = nullptr;
        void* address = nullptr;
        const std::size_t used = p.figures().used;
        try {
          address = p.allocate(bytes, owner, got);
        } catch (const memory_error&) {
          ++refused;
          continue;
        }
        ++served;
        const std::unique_ptr<use_list> uses(got);
        const auto from = reinterpret_cast<std::uintptr_t>(address), to = from + p.figures().used - used;
        const auto next = all.lower_bound(from);
        REQUIRE((next == all.end() || next->first >= to));
        REQUIRE((next == all.begin() || std::prev(next)->first + std::prev(next)->second.size <= from));
        const auto given = system.given.upper_bound(from);
        REQUIRE(given != system.given.begin());
        REQUIRE(to - from >= bytes);
        REQUIRE(std::prev(given)->first + std::prev(given)->second >= to);
        for (const past& h : history) {
          if (h.to <= from || h.from >= to) continue;
          for (const int s : h.by) {
            const bool told =
                s == number || (uses && std::any_of(uses->uses.begin(), uses->uses.end(), [&](const auto& u) {
                                  return u.on == streams[s].get() && u.used != 0;
                                }));
            REQUIRE(told);
          }
        }
        forget(from, to);
        all.emplace(from, live{bytes, to - from, number});
      }
      std::size_t sum = 0;
      for (const auto& [address, x] : all) sum += x.size;
      const auto f = p.figures();
      REQUIRE(f.used == sum);
      REQUIRE(f.reserved >= f.used);
      REQUIRE(f.reserved == system.held);
      std::size_t used = 0, reserved = 0;
      for (int s = 0; s < 4; ++s) used += p.figures(s).used, reserved += p.figures(s).reserved;
      REQUIRE(used == f.used);
      REQUIRE(reserved <= f.reserved);
    }
    while (!all.empty()) free_one(all.begin());
    CHECK(p.figures().used == 0);
    p.trim();
    CHECK(system.held == 0);
    CHECK(!system.wrong);
  }
  CHECK(refused > 100);
  CHECK(served > 3000);
}
