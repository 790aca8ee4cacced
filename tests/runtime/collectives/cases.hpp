// What every transport must do, whatever its devices and however many of its ranks are this process's. A rank's data is
// a function of the rank and the position, so each process computes what must come from the others.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"
#include "sinter/dtype.hpp"
#include "sinter/error.hpp"

namespace collectives_test {

namespace runtime = sinter::runtime;
using runtime::block;
using runtime::communicator;
using bytes_t = std::vector<unsigned char>;

inline unsigned char byte_of(int from, int to, std::int64_t at) {
  return static_cast<unsigned char>(31 * from + 7 * to + 3 * at + at / 251 + 1);
}

/// Memory of a rank, brought there and back by the library's copies.
class memory_of {
 public:
  memory_of(runtime::backend& device, const bytes_t& content)
      : device_(device),
        memory_(std::make_unique<runtime::buffer>(device, std::max<std::size_t>(content.size(), 1))),
        bytes_(content.size()) {
    if (bytes_ == 0) return;
    runtime::submission work(device);
    device.copy_from_host(work.writes(*memory_), content.data(), bytes_);
  }
  block all() const { return {memory_.get(), 0, static_cast<std::int64_t>(bytes_)}; }
  block part(std::int64_t from, std::int64_t bytes) const { return {memory_.get(), from, bytes}; }
  bytes_t read() const {
    bytes_t result(bytes_);
    if (bytes_ == 0) return result;
    runtime::submission work(device_);
    device_.copy_to_host(result.data(), work.reads(*memory_), bytes_);
    return result;
  }

 private:
  runtime::backend& device_;
  std::unique_ptr<runtime::buffer> memory_;
  std::size_t bytes_;
};

/// One piece of memory for each local rank.
struct pieces {
  std::vector<std::unique_ptr<memory_of>> memory;
  std::vector<block> blocks;
  template <class F>
  pieces(communicator& c, F content_of_rank) {
    for (std::size_t k = 0; k < c.local_ranks().size(); ++k) {
      memory.push_back(std::make_unique<memory_of>(*c.local_devices()[k], content_of_rank(c.local_ranks()[k])));
      blocks.push_back(memory.back()->all());
    }
  }
};

inline bytes_t sent(int from, int to, std::int64_t bytes) {
  bytes_t result(static_cast<std::size_t>(bytes));
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = byte_of(from, to, static_cast<std::int64_t>(k));
  return result;
}
inline bytes_t empty_of(std::int64_t bytes) { return bytes_t(static_cast<std::size_t>(bytes), 0xEE); }
inline void append(bytes_t& to, const bytes_t& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Sizes of the ranks: equal, uneven, zero for some, all zero.
inline std::vector<std::vector<std::int64_t>> size_tables(int n) {
  std::vector<std::vector<std::int64_t>> tables(5, std::vector<std::int64_t>(static_cast<std::size_t>(n)));
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
    tables[0][r] = 24;
    tables[1][r] = static_cast<std::int64_t>(17 * r + 3);
    tables[2][r] = r % 2 == 0 ? 0 : static_cast<std::int64_t>(5000 + r);
    tables[3][r] = 0;
    tables[4][r] = r == static_cast<std::size_t>(n) - 1 ? 70001 : 0;
  }
  return tables;
}

inline void check_all_gather(communicator& c) {
  for (const auto& sizes : size_tables(c.size())) {
    const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    bytes_t expected;
    for (int r = 0; r < c.size(); ++r) append(expected, sent(r, 0, sizes[static_cast<std::size_t>(r)]));
    const pieces from(c, [&](int r) { return sent(r, 0, sizes[static_cast<std::size_t>(r)]); });
    const pieces to(c, [&](int) { return empty_of(all); });
    c.all_gather(from.blocks, to.blocks, sizes);
    for (const auto& m : to.memory) CHECK(m->read() == expected);

    // In place: each rank's part lies where it belongs.
    pieces own(c, [&](int r) {
      bytes_t content = empty_of(all);
      const auto at = std::accumulate(sizes.begin(), sizes.begin() + r, std::int64_t{0});
      const bytes_t mine = sent(r, 0, sizes[static_cast<std::size_t>(r)]);
      std::copy(mine.begin(), mine.end(), content.begin() + at);
      return content;
    });
    std::vector<block> parts;
    for (std::size_t k = 0; k < own.blocks.size(); ++k) {
      const int r = c.local_ranks()[k];
      parts.push_back(own.memory[k]->part(std::accumulate(sizes.begin(), sizes.begin() + r, std::int64_t{0}),
                                          sizes[static_cast<std::size_t>(r)]));
    }
    c.all_gather(parts, own.blocks, sizes);
    for (const auto& m : own.memory) CHECK(m->read() == expected);
  }
  const pieces from(c, [&](int r) { return sent(r, 0, 100); });
  const pieces to(c, [&](int) { return empty_of(100 * c.size()); });
  c.all_gather(from.blocks, to.blocks);
  for (const auto& m : to.memory) {
    const bytes_t got = m->read();
    for (int r = 0; r < c.size(); ++r) CHECK(got[static_cast<std::size_t>(100 * r + 99)] == byte_of(r, 0, 99));
  }
}

/// Bytes from one rank to another, of three kinds: all, some pairs, and only to the next rank.
inline std::int64_t pair_bytes(int kind, int from, int to, int n) {
  if (kind == 0) return 40 + from + 10 * to;
  if (kind == 1) return (from + to) % 3 == 0 ? 1000 * from + to : 0;
  return to == (from + 1) % n ? 100000 : 0;
}

inline void check_all_to_all(communicator& c) {
  const int n = c.size();
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<std::int64_t> out, in;
    for (const int r : c.local_ranks())
      for (int peer = 0; peer < n; ++peer) {
        out.push_back(pair_bytes(kind, r, peer, n));
        in.push_back(pair_bytes(kind, peer, r, n));
      }
    const pieces from(c, [&](int r) {
      bytes_t content;
      for (int to = 0; to < n; ++to) append(content, sent(r, to, pair_bytes(kind, r, to, n)));
      return content;
    });
    const auto expected = [&](int r) {
      bytes_t content;
      for (int peer = 0; peer < n; ++peer) append(content, sent(peer, r, pair_bytes(kind, peer, r, n)));
      return content;
    };
    const pieces to(c, [&](int r) { return bytes_t(expected(r).size(), 0xEE); });
    c.all_to_all(from.blocks, out, to.blocks, in);
    for (std::size_t k = 0; k < to.memory.size(); ++k) CHECK(to.memory[k]->read() == expected(c.local_ranks()[k]));
  }
}

inline void check_broadcast(communicator& c) {
  for (int root = 0; root < c.size(); ++root)
    for (const std::int64_t bytes : {0, 1, 100003}) {
      const pieces all(c, [&](int r) { return r == root ? sent(root, 5, bytes) : empty_of(bytes); });
      c.broadcast(all.blocks, root);
      for (const auto& m : all.memory) CHECK(m->read() == sent(root, 5, bytes));
    }
}

/// Halos around a ring, two messages of a pair in one call, messages of a rank to itself, and empty ones.
inline void check_exchange(communicator& c) {
  const int n = c.size();
  constexpr std::int64_t inner = 4096, edge = 96;
  pieces field(c, [&](int r) {
    bytes_t content = empty_of(edge);
    append(content, sent(r, 9, inner));
    append(content, empty_of(2 * edge));
    return content;
  });
  std::vector<runtime::message> messages;
  const auto at = [&](int rank, std::int64_t offset, std::int64_t bytes) {
    const int k = c.local_index(rank);
    return k < 0 ? block{} : field.memory[static_cast<std::size_t>(k)]->part(offset, bytes);
  };
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n;
    if (c.local_index(r) < 0 && c.local_index(next) < 0) continue;
    messages.push_back({r, next, at(r, inner, edge), at(next, 0, edge)});                    // the last edge
    messages.push_back({next, r, at(next, edge, edge), at(r, edge + inner, edge)});          // the first edge
    messages.push_back({r, next, at(r, 2 * edge, edge), at(next, 2 * edge + inner, edge)});  // another message
    messages.push_back({r, next, at(r, 0, 0), at(next, 0, 0)});
  }
  c.exchange(messages);
  for (std::size_t k = 0; k < field.memory.size(); ++k) {
    const int r = c.local_ranks()[k], left = (r + n - 1) % n, right = (r + 1) % n;
    const bytes_t got = field.memory[k]->read(), before = sent(left, 9, inner), after = sent(right, 9, inner);
    CHECK(std::equal(got.begin(), got.begin() + edge, before.end() - edge));
    CHECK(std::equal(got.begin() + edge, got.begin() + edge + inner, sent(r, 9, inner).begin()));
    CHECK(std::equal(got.end() - 2 * edge, got.end() - edge, after.begin()));
    CHECK(std::equal(got.end() - edge, got.end(), before.begin() + edge));
  }
  c.exchange({});
}

template <class T>
T value_at(int rank, std::int64_t k) {
  const auto v = static_cast<double>((rank * 7 + k * 3) % 11 - 4);
  if constexpr (std::is_same_v<T, bool>) return (rank + k) % 3 == 0;
  else if constexpr (std::is_same_v<T, sinter::half> || std::is_same_v<T, sinter::bfloat>)
    return T(static_cast<float>(v / 3));
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(static_cast<typename T::value_type>(v / 3), static_cast<typename T::value_type>(v + 1));
  else if constexpr (std::is_floating_point_v<T>)
    return k % 97 == 5 && rank == 1 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(v / 3);
  else return static_cast<T>(v);
}

template <class T>
T combined(T a, T b, runtime::reduce_op op) {
  using runtime::reduce_op;
  if constexpr (std::is_same_v<T, bool>) {
    return op == reduce_op::sum || op == reduce_op::max ? a || b : a && b;
  } else if constexpr (std::is_same_v<T, sinter::half> || std::is_same_v<T, sinter::bfloat>) {
    return T(combined(static_cast<float>(a), static_cast<float>(b), op));
  } else if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
    if (op == reduce_op::sum) return static_cast<T>(a + b);
    if (op == reduce_op::prod) return static_cast<T>(a * b);
    if (a != a) return a;
    if (b != b) return b;
    return op == reduce_op::min ? std::min(a, b) : std::max(a, b);
  } else {
    if (op == reduce_op::sum) return a + b;
    if (op == reduce_op::prod)
      return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    const bool less = a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    return less == (op == reduce_op::min) ? a : b;
  }
}

template <class T>
bytes_t values_of(int rank, std::int64_t count) {
  bytes_t result(static_cast<std::size_t>(count) * sizeof(T));
  for (std::int64_t k = 0; k < count; ++k) {
    const T v = value_at<T>(rank, k);
    std::memcpy(result.data() + static_cast<std::size_t>(k) * sizeof(T), &v, sizeof(T));
  }
  return result;
}
template <class T>
bytes_t reduced(int ranks, std::int64_t count, runtime::reduce_op op) {
  bytes_t result(static_cast<std::size_t>(count) * sizeof(T));
  for (std::int64_t k = 0; k < count; ++k) {
    T v = value_at<T>(0, k);
    for (int r = 1; r < ranks; ++r) v = combined(v, value_at<T>(r, k), op);
    std::memcpy(result.data() + static_cast<std::size_t>(k) * sizeof(T), &v, sizeof(T));
  }
  return result;
}
/// Bit for bit, but that a NaN is a NaN.
template <class T>
bool same_values(const bytes_t& a, const bytes_t& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
    if (std::memcmp(a.data() + at, b.data() + at, sizeof(T)) == 0) continue;
    if constexpr (std::is_floating_point_v<T>) {
      T x, y;
      std::memcpy(&x, a.data() + at, sizeof(T));
      std::memcpy(&y, b.data() + at, sizeof(T));
      if (x != x && y != y) continue;
    }
    return false;
  }
  return true;
}

template <class T>
void check_reductions_of(communicator& c, std::initializer_list<std::int64_t> counts) {
  using runtime::reduce_op;
  constexpr sinter::dtype type = sinter::dtype_of<T>;
  const std::string type_name(sinter::name(type));
  for (const reduce_op op : {reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max}) {
    CAPTURE(type_name);
    const std::string op_name = runtime::name_of(op);
    CAPTURE(op_name);
    for (const std::int64_t count : counts) {
      const bytes_t expected = reduced<T>(c.size(), count, op);
      const pieces from(c, [&](int r) { return values_of<T>(r, count); });
      const pieces to(c, [&](int) { return bytes_t(expected.size(), 0xEE); });
      c.all_reduce(from.blocks, to.blocks, type, op);
      for (const auto& m : to.memory) CHECK(same_values<T>(m->read(), expected));
      for (std::size_t k = 0; k < from.memory.size(); ++k)
        CHECK(from.memory[k]->read() == values_of<T>(c.local_ranks()[k], count));
      c.all_reduce(from.blocks, from.blocks, type, op);
      for (const auto& m : from.memory) CHECK(same_values<T>(m->read(), expected));
    }
    // Uneven parts, some of them empty.
    std::vector<std::int64_t> elements;
    for (int r = 0; r < c.size(); ++r) elements.push_back(r % 3 == 1 ? 0 : 50 + 13 * r);
    const std::int64_t all = std::accumulate(elements.begin(), elements.end(), std::int64_t{0});
    const bytes_t expected = reduced<T>(c.size(), all, op);
    const pieces from(c, [&](int r) { return values_of<T>(r, all); });
    const pieces to(c, [&](int r) {
      return bytes_t(static_cast<std::size_t>(elements[static_cast<std::size_t>(r)]) * sizeof(T), 0xEE);
    });
    c.reduce_scatter(from.blocks, to.blocks, elements, type, op);
    for (std::size_t k = 0; k < to.memory.size(); ++k) {
      const int r = c.local_ranks()[k];
      const auto at = std::accumulate(elements.begin(), elements.begin() + r, std::int64_t{0});
      const auto begin = expected.begin() + at * static_cast<std::ptrdiff_t>(sizeof(T));
      const bytes_t mine(begin, begin + elements[static_cast<std::size_t>(r)] * static_cast<std::ptrdiff_t>(sizeof(T)));
      CHECK(same_values<T>(to.memory[k]->read(), mine));
    }
  }
}

inline void check_reductions(communicator& c) {
  check_reductions_of<float>(c, {0, 1, 7, 20011});
  check_reductions_of<double>(c, {1, 5003});
  check_reductions_of<bool>(c, {300});
  check_reductions_of<std::int8_t>(c, {300});
  check_reductions_of<std::int16_t>(c, {300});
  check_reductions_of<std::int32_t>(c, {300, 10001});
  check_reductions_of<std::int64_t>(c, {300});
  check_reductions_of<std::uint8_t>(c, {300});
  check_reductions_of<std::uint16_t>(c, {300});
  check_reductions_of<std::uint32_t>(c, {300});
  check_reductions_of<std::uint64_t>(c, {300});
  check_reductions_of<sinter::half>(c, {300});
  check_reductions_of<sinter::bfloat>(c, {300});
  check_reductions_of<std::complex<float>>(c, {300});
  check_reductions_of<std::complex<double>>(c, {300});
}

/// Rows and columns of a mesh with two rows, and groups that leave ranks out.
inline void check_split(communicator& c) {
  const int n = c.size();
  std::vector<int> rows, columns, even;
  for (int r = 0; r < n; ++r) {
    rows.push_back(r < (n + 1) / 2 ? 7 : 2);
    columns.push_back(r % ((n + 1) / 2));
    even.push_back(r % 2 == 0 ? 0 : -1);
  }
  for (const std::vector<int>& groups : {rows, columns, even}) {
    const auto parts = c.split(groups);
    int before = -1;
    std::size_t locals = 0;
    for (const communicator::part& p : parts) {
      CHECK(p.number > before);
      before = p.number;
      REQUIRE(p.group);
      CHECK(p.group->size() == static_cast<int>(p.members.size()));
      for (std::size_t k = 0; k < p.group->local_ranks().size(); ++k) {
        const int rank = p.members[static_cast<std::size_t>(p.group->local_ranks()[k])];
        CHECK(groups[static_cast<std::size_t>(rank)] == p.number);
        REQUIRE(c.local_index(rank) >= 0);
        CHECK(p.group->local_devices()[k] == c.local_devices()[static_cast<std::size_t>(c.local_index(rank))]);
        ++locals;
      }
      check_all_gather(*p.group);
      check_exchange(*p.group);
      const auto again = p.group->split(std::vector<int>(p.members.size(), 0));
      REQUIRE(again.size() == 1);
      CHECK(again[0].members.size() == p.members.size());
    }
    for (const int r : c.local_ranks()) locals -= groups[static_cast<std::size_t>(r)] >= 0;
    CHECK(locals == 0);
  }
}

inline void check_host(communicator& c) {
  c.barrier();
  const std::string mine =
      "process " + std::to_string(c.process()) + std::string(static_cast<std::size_t>(c.process()), 'x');
  const std::vector<std::string> all = c.gather_texts(mine);
  REQUIRE(static_cast<int>(all.size()) == c.process_count());
  for (int p = 0; p < c.process_count(); ++p)
    CHECK(all[static_cast<std::size_t>(p)] ==
          "process " + std::to_string(p) + std::string(static_cast<std::size_t>(p), 'x'));
  CHECK(c.gather_texts("").size() == all.size());
  c.check();
}

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    FAIL_CHECK("another exception: " << e.what());
    return {};
  }
  FAIL_CHECK("no exception");
  return {};
}

/// Wrong arguments, alike on all ranks, are refused and leave the group usable.
inline void check_refusals(communicator& c) {
  using sinter::value_error;
  const auto n = static_cast<std::size_t>(c.size());
  const pieces from(c, [&](int r) { return sent(r, 0, 16); });
  const pieces to(c, [&](int) { return empty_of(16 * c.size()); });
  const std::vector<std::int64_t> sizes(n, 16), wrong(n, 15), negative(n, -1);
  const auto refused = [&](auto call) { return message_of<value_error>(call); };
  CHECK(refused([&] { c.all_gather(from.blocks, to.blocks, wrong); }).find("sends 16 bytes instead of 15") !=
        std::string::npos);
  (void)refused([&] { c.all_gather(from.blocks, to.blocks, negative); });
  (void)refused([&] { c.all_gather({}, to.blocks, sizes); });
  (void)refused([&] { c.all_gather(from.blocks, from.blocks, std::vector<std::int64_t>(n + 1, 16)); });
  (void)refused([&] { c.broadcast(from.blocks, c.size()); });
  (void)refused([&] { c.broadcast(from.blocks, -1); });
  (void)refused([&] { (void)c.split(std::vector<int>(n + 1, 0)); });
  (void)refused([&] { (void)c.split(std::vector<int>(n, -2)); });
  if (n > 1) (void)refused([&] { c.all_reduce(from.blocks, to.blocks, sinter::float32, runtime::reduce_op::sum); });
  std::vector<block> outside = from.blocks, none = from.blocks, odd = from.blocks;
  for (block& b : outside) b.offset = 8;
  for (block& b : none) b.memory = nullptr;
  for (block& b : odd) b.bytes = 15;
  (void)refused([&] { c.all_reduce(outside, outside, sinter::float32, runtime::reduce_op::sum); });
  (void)refused([&] { c.all_reduce(none, none, sinter::float32, runtime::reduce_op::sum); });
  (void)refused([&] { c.all_reduce(odd, odd, sinter::float32, runtime::reduce_op::sum); });
  const int mine = c.local_ranks()[0];
  const block whole = from.blocks[0], half = from.memory[0]->part(8, 8), first = from.memory[0]->part(4, 8);
  (void)refused([&] { c.exchange(std::vector<runtime::message>{{mine, c.size(), whole, {}}}); });
  (void)refused([&] { c.exchange(std::vector<runtime::message>{{mine, mine, half, first}}); });
  if (n > 1) {
    const int other = (mine + 1) % c.size();
    const block target =
        c.local_index(other) < 0 ? block{} : to.memory[static_cast<std::size_t>(c.local_index(other))]->part(0, 8);
    (void)refused([&] {
      c.exchange(std::vector<runtime::message>{{mine, other, half, target}, {other, mine, target, first}});
    });
  }
  c.all_gather(from.blocks, to.blocks, sizes);
}

inline void check_everything(communicator& c) {
  check_host(c);
  check_all_gather(c);
  check_all_to_all(c);
  check_broadcast(c);
  check_exchange(c);
  check_split(c);
  check_refusals(c);
}

}  // namespace collectives_test
