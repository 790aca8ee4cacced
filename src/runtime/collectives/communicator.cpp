// What all transports share: the checks of arguments, the tally, and reductions made of transfers.
#include "runtime/collectives/communicator.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "platform/environment.hpp"
#include "runtime/backend.hpp"
#include "runtime/collectives/combine.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& what) {
  throw value_error("[" + std::string(function) + "] " + what);
}

std::string range_of(const block& b) {
  return "bytes " + std::to_string(b.offset) + " to " + std::to_string(b.offset + b.bytes);
}

bool overlap(const block& a, const block& b) noexcept {
  return a.memory == b.memory && a.bytes > 0 && b.bytes > 0 && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}
bool same(const block& a, const block& b) noexcept {
  return a.memory == b.memory && a.offset == b.offset && a.bytes == b.bytes;
}

void require_block(const char* function, const block& b, const backend& device) {
  if (b.bytes < 0 || b.offset < 0) refuse(function, "a block has " + range_of(b));
  if (b.bytes == 0) return;
  if (!b.memory) refuse(function, "a block of " + std::to_string(b.bytes) + " bytes has no buffer");
  if (&b.memory->owner() != &device)
    refuse(function, "a block of a rank on " + to_string(device.id()) + " is on " + to_string(b.memory->owner().id()));
  if (static_cast<std::uint64_t>(b.offset) + static_cast<std::uint64_t>(b.bytes) > b.memory->bytes())
    refuse(function, range_of(b) + " of a buffer of " + std::to_string(b.memory->bytes()) + " bytes");
}

void require_bytes(const char* function, const char* which, int rank, const block& b, std::int64_t bytes) {
  if (b.bytes != bytes)
    refuse(function, "rank " + std::to_string(rank) + " " + which + " " + std::to_string(b.bytes) +
                         " bytes instead of " + std::to_string(bytes));
}

void require_count(const char* function, const char* what, std::size_t count, std::size_t expected) {
  if (count != expected)
    refuse(function, std::to_string(count) + " " + what + " instead of " + std::to_string(expected));
}

std::int64_t total(const char* function, std::span<const std::int64_t> sizes) {
  std::int64_t sum = 0;
  for (const std::int64_t n : sizes) {
    if (n < 0) refuse(function, "a size is " + std::to_string(n));
    if (__builtin_add_overflow(sum, n, &sum)) refuse(function, "the sizes exceed int64");
  }
  return sum;
}

/// Elements of reductions are at multiples of their size.
void require_elements(const char* function, const block& b, dtype type) {
  const auto item = static_cast<std::int64_t>(itemsize(type));
  if (b.offset % item != 0 || b.bytes % item != 0)
    refuse(function, range_of(b) + " are no elements of " + std::string(sinter::name(type)));
}

void require_disjoint(const char* function, const block& send, const block& receive) {
  if (overlap(send, receive))
    refuse(function, range_of(send) + " are sent and " + range_of(receive) + " of the same buffer are received");
}

}  // namespace

const char* name_of(reduce_op op) noexcept {
  constexpr const char* names[] = {"sum", "prod", "min", "max"};
  return names[static_cast<int>(op)];
}

std::chrono::seconds collective_timeout() noexcept {
  return std::chrono::seconds(platform::environment_number("SINTER_COLLECTIVE_TIMEOUT").value_or(600));
}

communicator::communicator(int size, std::vector<int> local_ranks, std::vector<backend*> local_devices)
    : size_(size), local_ranks_(std::move(local_ranks)), local_devices_(std::move(local_devices)) {}

int communicator::local_index(int rank) const noexcept {
  const auto found = std::lower_bound(local_ranks_.begin(), local_ranks_.end(), rank);
  return found != local_ranks_.end() && *found == rank ? static_cast<int>(found - local_ranks_.begin()) : -1;
}

void communicator::require_blocks(const char* function, const char* what, std::span<const block> blocks) const {
  require_count(function, what, blocks.size(), local_ranks_.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) require_block(function, blocks[k], *local_devices_[k]);
}

void communicator::begin(const char* function, std::int64_t bytes) {
  for (const backend* d : local_devices_)
    if (d->current_stream().notes())
      throw device_error("[capture] " + std::string(function) + " between ranks cannot be captured");
  do_check(function);
  if (tracing()) [[unlikely]]
    trace(std::string(function) + " of " + std::to_string(size_) + " ranks, " + std::to_string(bytes) +
          " bytes from this process");
  calls_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
}

void communicator::all_gather(std::span<const block> sends, std::span<const block> receives,
                              std::span<const std::int64_t> bytes) {
  constexpr const char* name = "all_gather";
  require_blocks(name, "sends", sends);
  require_blocks(name, "receives", receives);
  require_count(name, "sizes", bytes.size(), static_cast<std::size_t>(size_));
  const std::int64_t all = total(name, bytes);
  std::int64_t sent = 0;
  for (std::size_t k = 0; k < sends.size(); ++k) {
    const auto rank = static_cast<std::size_t>(local_ranks_[k]);
    require_bytes(name, "sends", local_ranks_[k], sends[k], bytes[rank]);
    require_bytes(name, "receives", local_ranks_[k], receives[k], all);
    block place = receives[k];
    place.offset += std::accumulate(bytes.begin(), bytes.begin() + local_ranks_[k], std::int64_t{0});
    place.bytes = bytes[rank];
    if (!same(sends[k], place)) require_disjoint(name, sends[k], receives[k]);
    sent += bytes[rank] * (size_ - 1);
  }
  begin(name, sent);
  if (all != 0) do_all_gather(sends, receives, bytes);
}

void communicator::all_gather(std::span<const block> sends, std::span<const block> receives) {
  require_blocks("all_gather", "sends", sends);
  const std::vector<std::int64_t> bytes(static_cast<std::size_t>(size_), sends[0].bytes);
  all_gather(sends, receives, bytes);
}

void communicator::all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                              std::span<const block> receives, std::span<const std::int64_t> receive_bytes) {
  constexpr const char* name = "all_to_all";
  require_blocks(name, "sends", sends);
  require_blocks(name, "receives", receives);
  const auto n = static_cast<std::size_t>(size_);
  require_count(name, "sizes sent", send_bytes.size(), sends.size() * n);
  require_count(name, "sizes received", receive_bytes.size(), sends.size() * n);
  std::int64_t sent = 0;
  for (std::size_t k = 0; k < sends.size(); ++k) {
    const auto out = send_bytes.subspan(k * n, n);
    const auto rank = static_cast<std::size_t>(local_ranks_[k]);
    require_bytes(name, "sends", local_ranks_[k], sends[k], total(name, out));
    require_bytes(name, "receives", local_ranks_[k], receives[k], total(name, receive_bytes.subspan(k * n, n)));
    require_disjoint(name, sends[k], receives[k]);
    sent += sends[k].bytes - out[rank];
    for (std::size_t j = 0; j < sends.size(); ++j) {
      const auto peer = static_cast<std::size_t>(local_ranks_[j]);
      if (out[peer] != receive_bytes[j * n + rank])
        refuse(name, "rank " + std::to_string(rank) + " sends " + std::to_string(out[peer]) + " bytes to rank " +
                         std::to_string(peer) + ", which expects " + std::to_string(receive_bytes[j * n + rank]));
    }
  }
  begin(name, sent);
  do_all_to_all(sends, send_bytes, receives, receive_bytes);
}

void communicator::broadcast(std::span<const block> blocks, int root) {
  constexpr const char* name = "broadcast";
  require_blocks(name, "blocks", blocks);
  if (root < 0 || root >= size_) refuse(name, "rank " + std::to_string(root) + " of " + std::to_string(size_));
  for (std::size_t k = 1; k < blocks.size(); ++k)
    require_bytes(name, "has", local_ranks_[k], blocks[k], blocks[0].bytes);
  const int at = local_index(root);
  for (std::size_t k = 0; at >= 0 && k < blocks.size(); ++k)
    if (static_cast<int>(k) != at) require_disjoint(name, blocks[static_cast<std::size_t>(at)], blocks[k]);
  begin(name, at >= 0 ? blocks[0].bytes * (size_ - 1) : 0);
  if (blocks[0].bytes != 0) do_broadcast(blocks, root);
}

void communicator::exchange(std::span<const message> messages) {
  constexpr const char* name = "exchange";
  std::int64_t sent = 0;
  for (const message& m : messages) {
    for (const int rank : {m.from, m.to})
      if (rank < 0 || rank >= size_) refuse(name, "rank " + std::to_string(rank) + " of " + std::to_string(size_));
    const int from = local_index(m.from), to = local_index(m.to);
    if (from < 0 && to < 0)
      refuse(name, "a message from rank " + std::to_string(m.from) + " to rank " + std::to_string(m.to) +
                       ", which are both of other processes");
    if (from >= 0) require_block(name, m.source, *local_devices_[static_cast<std::size_t>(from)]);
    if (to >= 0) require_block(name, m.target, *local_devices_[static_cast<std::size_t>(to)]);
    if (from >= 0 && to >= 0) {
      require_bytes(name, "receives", m.to, m.target, m.source.bytes);
      require_disjoint(name, m.source, m.target);
    }
    if (from >= 0 && m.from != m.to) sent += m.source.bytes;
  }
  require_targets_disjoint(messages);
  begin(name, sent);
  if (!messages.empty()) do_exchange(messages);
}

/// Sorted by buffer and offset, so that long lists take n log n.
void communicator::require_targets_disjoint(std::span<const message> messages) const {
  struct use {
    block at;
    bool written;
  };
  std::vector<use> uses;
  for (const message& m : messages) {
    if (local_index(m.from) >= 0 && m.source.bytes > 0) uses.push_back({m.source, false});
    if (local_index(m.to) >= 0 && m.target.bytes > 0) uses.push_back({m.target, true});
  }
  std::sort(uses.begin(), uses.end(), [](const use& a, const use& b) {
    return a.at.memory != b.at.memory ? std::less<>()(a.at.memory, b.at.memory) : a.at.offset < b.at.offset;
  });
  // The uses that reach furthest so far, of reads and of writes: an overlap is one with either.
  const use* furthest[2] = {};
  for (const use& u : uses) {
    for (const use*& f : furthest) {
      if (f && f->at.memory != u.at.memory) f = nullptr;
      if (f && (u.written || f->written) && overlap(f->at, u.at))
        refuse("exchange", range_of(u.at) + " of a buffer are " + (u.written ? "received" : "sent") + " and " +
                               range_of(f->at) + (f->written ? " received" : " sent"));
    }
    const use*& mine = furthest[u.written ? 1 : 0];
    if (!mine || mine->at.offset + mine->at.bytes < u.at.offset + u.at.bytes) mine = &u;
  }
}

void communicator::all_reduce(std::span<const block> sends, std::span<const block> receives, dtype type, reduce_op op) {
  constexpr const char* name = "all_reduce";
  require_blocks(name, "sends", sends);
  require_blocks(name, "receives", receives);
  const std::int64_t bytes = sends[0].bytes;
  for (std::size_t k = 0; k < sends.size(); ++k) {
    require_elements(name, sends[k], type);
    require_elements(name, receives[k], type);
    require_bytes(name, "sends", local_ranks_[k], sends[k], bytes);
    require_bytes(name, "receives", local_ranks_[k], receives[k], bytes);
    if (!same(sends[k], receives[k])) require_disjoint(name, sends[k], receives[k]);
  }
  begin(name, bytes / size_ * 2 * (size_ - 1) * static_cast<std::int64_t>(sends.size()));
  if (bytes != 0) do_all_reduce(sends, receives, type, op);
}

void communicator::reduce_scatter(std::span<const block> sends, std::span<const block> receives,
                                  std::span<const std::int64_t> elements, dtype type, reduce_op op) {
  constexpr const char* name = "reduce_scatter";
  require_blocks(name, "sends", sends);
  require_blocks(name, "receives", receives);
  require_count(name, "sizes", elements.size(), static_cast<std::size_t>(size_));
  const auto size = static_cast<std::int64_t>(itemsize(type));
  const std::int64_t all = total(name, elements) * size;
  for (std::size_t k = 0; k < sends.size(); ++k) {
    require_bytes(name, "sends", local_ranks_[k], sends[k], all);
    require_bytes(name, "receives", local_ranks_[k], receives[k],
                  elements[static_cast<std::size_t>(local_ranks_[k])] * size);
    require_elements(name, sends[k], type);
    require_elements(name, receives[k], type);
    require_disjoint(name, sends[k], receives[k]);
  }
  begin(name, all / size_ * (size_ - 1) * static_cast<std::int64_t>(sends.size()));
  if (all != 0) do_reduce_scatter(sends, receives, elements, type, op);
}

void communicator::barrier() {
  begin("barrier", 0);
  do_barrier();
}

std::vector<std::string> communicator::gather_texts(std::string_view mine) {
  begin("gather_texts", static_cast<std::int64_t>(mine.size()) * (process_count() - 1));
  return do_gather_texts(mine);
}

std::vector<communicator::part> communicator::split(std::span<const int> group_of) {
  require_count("split", "groups of ranks", group_of.size(), static_cast<std::size_t>(size_));
  for (const int g : group_of)
    if (g < -1) refuse("split", "group " + std::to_string(g));
  begin("split", 0);
  return do_split(group_of);
}

std::vector<communicator::part> communicator::parts_of(std::span<const int> group_of) const {
  std::vector<part> parts;
  for (const int rank : local_ranks_) {
    const int number = group_of[static_cast<std::size_t>(rank)];
    if (number >= 0 && std::none_of(parts.begin(), parts.end(), [&](const part& p) { return p.number == number; }))
      parts.push_back({nullptr, number, {}});
  }
  std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.number < b.number; });
  for (part& p : parts)
    for (int rank = 0; rank < size_; ++rank)
      if (group_of[static_cast<std::size_t>(rank)] == p.number) p.members.push_back(rank);
  return parts;
}

void communicator::fail(std::string_view message) noexcept { do_fail(message); }
void communicator::check() { do_check("collectives"); }

// ---- reductions of parts that are brought together

namespace {

/// Each rank's memory for what the others give it.
struct scratch {
  scratch(const std::vector<backend*>& devices, std::int64_t bytes_of_each)
      : scratch(devices, std::vector<std::int64_t>(devices.size(), bytes_of_each)) {}
  scratch(const std::vector<backend*>& devices, const std::vector<std::int64_t>& bytes) {
    for (std::size_t k = 0; k < devices.size(); ++k) {
      const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes[k], 1));
      memory.push_back(std::make_unique<buffer>(*devices[k], size, memory_kind::device));
      blocks.push_back({memory.back().get(), 0, bytes[k]});
    }
  }
  std::vector<std::unique_ptr<buffer>> memory;
  std::vector<block> blocks;
};

/// Up to here every rank gets all parts: fewer steps, and more bytes, than parts of the reduction for each rank.
constexpr std::int64_t gathered_bytes = std::int64_t{32} << 10;

}  // namespace

void communicator::do_all_reduce(std::span<const block> sends, std::span<const block> receives, dtype type,
                                 reduce_op op) {
  const std::int64_t bytes = sends[0].bytes;
  const auto item = static_cast<std::int64_t>(itemsize(type));
  const auto n = static_cast<std::size_t>(size_);
  if (bytes <= gathered_bytes || bytes / item < size_) {
    const scratch all(local_devices_, bytes * size_);
    do_all_gather(sends, all.blocks, std::vector<std::int64_t>(n, bytes));
    for (std::size_t k = 0; k < sends.size(); ++k)
      combine_parts(*local_devices_[k], all.blocks[k], receives[k], size_, type, op);
    return;
  }
  std::vector<std::int64_t> elements(n), sizes(n);
  std::vector<block> parts(receives.begin(), receives.end());
  for (std::size_t r = 0; r < n; ++r) {
    const auto count = bytes / item, from = static_cast<std::int64_t>(r);
    elements[r] = count * (from + 1) / size_ - count * from / size_;
    sizes[r] = elements[r] * item;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto rank = static_cast<std::size_t>(local_ranks_[k]);
    parts[k].offset += std::accumulate(sizes.begin(), sizes.begin() + local_ranks_[k], std::int64_t{0});
    parts[k].bytes = sizes[rank];
  }
  communicator::do_reduce_scatter(sends, parts, elements, type, op);
  do_all_gather(parts, receives, sizes);
}

void communicator::do_reduce_scatter(std::span<const block> sends, std::span<const block> receives,
                                     std::span<const std::int64_t> elements, dtype type, reduce_op op) {
  const auto item = static_cast<std::int64_t>(itemsize(type));
  std::vector<std::int64_t> send_bytes, receive_bytes, gathered;
  for (const int rank : local_ranks_) {
    const std::int64_t mine = elements[static_cast<std::size_t>(rank)] * item;
    for (const std::int64_t e : elements) {
      send_bytes.push_back(e * item);
      receive_bytes.push_back(mine);
    }
    gathered.push_back(mine * size_);
  }
  const scratch all(local_devices_, gathered);
  do_all_to_all(sends, send_bytes, all.blocks, receive_bytes);
  for (std::size_t k = 0; k < sends.size(); ++k)
    if (receives[k].bytes != 0) combine_parts(*local_devices_[k], all.blocks[k], receives[k], size_, type, op);
}

}  // namespace sinter::runtime
