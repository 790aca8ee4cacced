// Selection on the GPU against plain loops: flags as bools at any address and as bits, every size of element.
#ifdef SINTER_HAS_CUDA

#include "gpu/algorithms/algorithms.hpp"

using namespace algorithms_test;

namespace {

const int64_t sizes[] = {1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 4097, 9000, (1 << 20) + 3};

/// Flags of which about `in_64` of 64 are true; any value but 0 is true.
bytes random_flags(int64_t n, int in_64) {
  bytes flags(static_cast<size_t>(n));
  std::mt19937_64 random(static_cast<unsigned>(n + in_64));
  for (auto& f : flags) {
    const auto draw = random();
    if (static_cast<int>(draw % 64) < in_64) f = draw % 3 == 0 ? static_cast<unsigned char>(1 + (draw >> 32) % 255) : 1;
  }
  return flags;
}

std::vector<int64_t> positions_of(const bytes& flags) {
  std::vector<int64_t> all;
  for (size_t k = 0; k < flags.size(); ++k)
    if (flags[k]) all.push_back(static_cast<int64_t>(k));
  return all;
}

/// The bits of the first `packed` flags, as the interface says.
std::vector<std::uint32_t> words_of(const bytes& flags, int64_t packed) {
  std::vector<std::uint32_t> words(static_cast<size_t>(packed / 32));
  for (int64_t k = 0; k < packed; ++k) {
    const int64_t tile = k / runtime::flags_of_tile, in_tile = k % runtime::flags_of_tile;
    if (flags[static_cast<size_t>(k)])
      words[static_cast<size_t>(tile * 32 + in_tile % 32)] |= std::uint32_t{1} << (in_tile / 32);
  }
  return words;
}

/// A selection that has been counted: the first `packed` flags are bits, the bools of the others begin `offset` bytes
/// after an aligned address.
class counted {
 public:
  counted(runtime::backend& b, const bytes& flags, int64_t packed, size_t offset = 0)
      : algorithms_(b.algorithms()),
        words_(upload(b, words_of(flags, packed))),
        flags_(b, bytes(flags.begin() + packed, flags.end()), offset),
        all_{static_cast<int64_t>(flags.size()), packed, words_.as<std::uint32_t>(), flags_.as<bool>()},
        scratch_(b, algorithms_.select_scratch(all_)) {
    b.copy_to_host(&count, algorithms_.count_selected(all_, scratch_.data()), sizeof count);
  }
  void select(int size, const device_array& from, const device_array& to) const {
    algorithms_.select(all_, size, from.data(), to.data(), scratch_.data());
  }
  void select_positions(const device_array& to) const {
    algorithms_.select_positions(all_, to.as<int64_t>(), scratch_.data());
  }
  int64_t count = 0;

 private:
  static device_array upload(runtime::backend& b, const std::vector<std::uint32_t>& from) {
    return device_array(b, from.data(), from.size() * 4);
  }
  runtime::algorithms& algorithms_;
  device_array words_, flags_;
  runtime::selection all_;
  device_array scratch_;
};

bytes random_elements(int64_t n, size_t size) {
  bytes data(static_cast<size_t>(n) * size);
  std::mt19937_64 random(7);
  for (auto& x : data) x = static_cast<unsigned char>(random());
  return data;
}

bytes elements_at(const bytes& data, const std::vector<int64_t>& positions, int64_t size) {
  bytes out;
  for (int64_t k : positions) out.insert(out.end(), data.begin() + k * size, data.begin() + (k + 1) * size);
  return out;
}

/// The positions, and elements of every size, through one count.
void check_selection(runtime::backend& b, const bytes& flags, int64_t packed, size_t offset) {
  const auto n = static_cast<int64_t>(flags.size());
  const auto expected = positions_of(flags);
  CAPTURE(n);
  CAPTURE(packed);
  CAPTURE(offset);
  const counted selection(b, flags, packed, offset);
  REQUIRE(selection.count == static_cast<int64_t>(expected.size()));
  if (selection.count == 0) return;
  const device_array positions(b, expected.size() * 8);
  selection.select_positions(positions);
  CHECK(positions.to_host_as<int64_t>() == expected);
  for (int item : {1, 2, 4, 8, 16}) {
    CAPTURE(item);
    const auto size = static_cast<size_t>(item);
    const bytes data = random_elements(n, size);
    // Neither begins where a vector of 16 bytes could.
    const device_array from(b, data, size), to(b, expected.size() * size, item < 16 ? size : 0);
    selection.select(item, from, to);
    CHECK(to.to_host() == elements_at(data, expected, item));
  }
}

}  // namespace

TEST_CASE("gpu: elements and positions are selected in order by bools") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  for (int64_t n : sizes)
    for (int in_64 : {0, 1, 32, 64})
      for (size_t offset : {size_t{0}, size_t{1}, size_t{4}}) check_selection(*b, random_flags(n, in_64), 0, offset);
}

TEST_CASE("gpu: elements and positions are selected in order by bits, and by bools after them") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  REQUIRE(b->algorithms().takes_packed_flags());
  for (int64_t n : sizes)
    for (int in_64 : {0, 1, 32, 64}) {
      const int64_t whole = n / runtime::flags_of_tile * runtime::flags_of_tile;
      if (whole == 0) continue;
      check_selection(*b, random_flags(n, in_64), whole, 0);
      check_selection(*b, random_flags(n, in_64), whole / 2 / runtime::flags_of_tile * runtime::flags_of_tile, 3);
    }
}

TEST_CASE("gpu: a selection writes its result alone, the same in every run") {
  runtime::backend* const b = backend_under_test();
  if (!b) return;
  const int64_t n = 3000001;
  const bytes flags = random_flags(n, 20), data = random_elements(n, 4);
  const auto wanted = elements_at(data, positions_of(flags), 4);
  const counted selection(*b, flags, 0);
  const device_array from(*b, data);
  for (int run = 0; run < 5; ++run) {
    const bytes before(wanted.size() + 512, 0xa5);
    const device_array to(*b, before);
    selection.select(4, from, to);
    bytes expected = wanted;
    expected.resize(before.size(), 0xa5);
    CHECK(to.to_host() == expected);
  }
}

#endif
