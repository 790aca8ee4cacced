// Collectives of host memory by MPI. MPI's own are used where all counts fit its ints; else the same transfers go as
// sends and receives in pieces. Totals of all_to_all differ between ranks, which could choose differently, so it is
// always made of sends and receives, as MPI's nonblocking one is too.
#include "runtime/collectives/mpi_ranks.hpp"

#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/backend.hpp"
#include "runtime/collectives/group_submission.hpp"
#include "runtime/collectives/hooks.hpp"

namespace sinter::runtime {
namespace {

constexpr int data_tag = 2;
constexpr std::int64_t usual_piece = std::int64_t{1} << 30;
std::atomic<std::int64_t> piece{usual_piece};

std::vector<int> to_ints(std::span<const std::int64_t> values) { return {values.begin(), values.end()}; }

std::vector<std::int64_t> offsets_of(std::span<const std::int64_t> bytes) {
  std::vector<std::int64_t> offsets(bytes.size(), 0);
  std::exclusive_scan(bytes.begin(), bytes.end(), offsets.begin(), std::int64_t{0});
  return offsets;
}

}  // namespace

std::int64_t mpi_piece() noexcept { return piece.load(); }
void set_mpi_piece(std::int64_t bytes) noexcept { piece = bytes > 0 ? bytes : usual_piece; }

/// Sends and receives that are begun together.
struct mpi_ranks::transfers {
  explicit transfers(mpi_ranks& group) : group_(group) {}
  void receive(char* to, std::int64_t bytes, int from) {
    each_piece(bytes, [&](std::int64_t at, int size) {
      requests.push_back({library().receive(group_.comm_, to + at, size, from, data_tag), size, true});
    });
  }
  void send(const char* from, std::int64_t bytes, int to) {
    each_piece(bytes, [&](std::int64_t at, int size) {
      requests.push_back({library().send(group_.comm_, from + at, size, to, data_tag), -1, true});
    });
  }
  void wait(const char* function) { group_.job_->wait(function, group_.members_, requests); }

  std::vector<mpi_request> requests;
  std::vector<int> sizes, offsets;  // arguments of MPI, which reads them until the call is done

 private:
  mpi_library& library() const { return group_.job_->library(); }
  template <class F>
  static void each_piece(std::int64_t bytes, F f) {
    const std::int64_t most = mpi_piece();
    for (std::int64_t at = 0; at < bytes; at += most) f(at, static_cast<int>(std::min(most, bytes - at)));
  }
  mpi_ranks& group_;
};

mpi_ranks::mpi_ranks(std::shared_ptr<mpi_job> job, mpi_handle comm, std::vector<int> members, int rank, backend& device)
    : communicator(static_cast<int>(members.size()), {rank}, {&device}),
      job_(std::move(job)),
      comm_(comm),
      members_(std::move(members)) {}

mpi_ranks::~mpi_ranks() {
  // After a failure the others may still be in a call of the group.
  const std::lock_guard lock(mpi_job::calls());
  if (!job_->failure().is_raised() && !job_->library().is_finalized()) job_->library().release(comm_);
}

std::shared_ptr<mpi_ranks> mpi_ranks::of_all(std::shared_ptr<mpi_job> job, backend& device) {
  std::vector<int> members(static_cast<std::size_t>(job->processes()));
  std::iota(members.begin(), members.end(), 0);
  const std::lock_guard lock(mpi_job::calls());
  const mpi_handle comm = job->library().duplicate(job->base());
  const int rank = job->process();
  return std::make_shared<mpi_ranks>(std::move(job), comm, std::move(members), rank, device);
}

std::string mpi_ranks::transport() const {
  const std::lock_guard lock(mpi_job::calls());
  return job_->library().version();
}

void mpi_ranks::do_check(const char* function) {
  job_->look();
  job_->failure().throw_if_raised(function);
}

void mpi_ranks::gather_bytes(const char* function, const char* mine, char* all, std::span<const std::int64_t> bytes) {
  const std::vector<std::int64_t> offsets = offsets_of(bytes);
  const auto me = static_cast<std::size_t>(process());
  const bool in_place = mine == all + offsets[me];
  transfers work(*this);
  {
    const std::lock_guard lock(mpi_job::calls());
    if (offsets.back() + bytes.back() <= mpi_piece()) {
      work.sizes = to_ints(bytes);
      work.offsets = to_ints(offsets);
      work.requests.push_back({job_->library().all_gather(comm_, in_place ? nullptr : mine, work.sizes[me], all,
                                                          work.sizes.data(), work.offsets.data())});
    } else {
      for (std::size_t r = 0; r < bytes.size(); ++r)
        if (r != me) work.receive(all + offsets[r], bytes[r], static_cast<int>(r));
      for (std::size_t r = 0; r < bytes.size(); ++r)
        if (r != me) work.send(mine, bytes[me], static_cast<int>(r));
      if (!in_place && bytes[me] != 0) std::memcpy(all + offsets[me], mine, static_cast<std::size_t>(bytes[me]));
    }
  }
  work.wait(function);
}

void mpi_ranks::broadcast_bytes(const char* function, void* data, std::int64_t bytes, int root) {
  transfers work(*this);
  {
    const std::lock_guard lock(mpi_job::calls());
    for (std::int64_t at = 0; at < bytes; at += mpi_piece())
      work.requests.push_back({job_->library().broadcast(comm_, static_cast<char*>(data) + at,
                                                         static_cast<int>(std::min(mpi_piece(), bytes - at)), root)});
  }
  work.wait(function);
}

void mpi_ranks::do_all_gather(std::span<const block> sends, std::span<const block> receives,
                              std::span<const std::int64_t> bytes) {
  group_submission work(local_devices());
  char* const mine = work.reads(0, sends[0]);
  gather_bytes("all_gather", mine, work.writes(0, receives[0]), bytes);
}

void mpi_ranks::do_all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                              std::span<const block> receives, std::span<const std::int64_t> receive_bytes) {
  group_submission work(local_devices());
  const char* const from = work.reads(0, sends[0]);
  char* const to = work.writes(0, receives[0]);
  const std::vector<std::int64_t> from_at = offsets_of(send_bytes), to_at = offsets_of(receive_bytes);
  transfers all(*this);
  {
    const std::lock_guard lock(mpi_job::calls());
    // Each rank begins with its neighbour, so that not all send to rank 0 first.
    const int n = size(), me = process();
    for (int step = 1; step < n; ++step) {
      const auto peer = static_cast<std::size_t>((me + n - step) % n);
      all.receive(to + to_at[peer], receive_bytes[peer], static_cast<int>(peer));
    }
    for (int step = 1; step < n; ++step) {
      const auto peer = static_cast<std::size_t>((me + step) % n);
      all.send(from + from_at[peer], send_bytes[peer], static_cast<int>(peer));
    }
  }
  const auto me = static_cast<std::size_t>(process());
  if (send_bytes[me] != 0) std::memcpy(to + to_at[me], from + from_at[me], static_cast<std::size_t>(send_bytes[me]));
  all.wait("all_to_all");
}

void mpi_ranks::do_broadcast(std::span<const block> blocks, int root) {
  group_submission work(local_devices());
  char* const data = process() == root ? work.reads(0, blocks[0]) : work.writes(0, blocks[0]);
  broadcast_bytes("broadcast", data, blocks[0].bytes, root);
}

void mpi_ranks::do_exchange(std::span<const message> messages) {
  group_submission work(local_devices());
  const int me = process();
  transfers all(*this);
  std::vector<std::pair<const block*, const block*>> own;
  {
    const std::lock_guard lock(mpi_job::calls());
    for (const message& m : messages) {
      if (m.from == me && m.to == me) own.emplace_back(&m.source, &m.target);
      else if (m.to == me) all.receive(work.writes(0, m.target), m.target.bytes, m.from);
    }
    for (const message& m : messages)
      if (m.from == me && m.to != me) all.send(work.reads(0, m.source), m.source.bytes, m.to);
  }
  for (const auto& [source, target] : own)
    if (source->bytes != 0)
      std::memcpy(work.writes(0, *target), work.reads(0, *source), static_cast<std::size_t>(source->bytes));
  all.wait("exchange");
}

void mpi_ranks::do_barrier() {
  transfers work(*this);
  {
    const std::lock_guard lock(mpi_job::calls());
    work.requests.push_back({job_->library().barrier(comm_)});
  }
  work.wait("barrier");
}

std::vector<std::string> mpi_ranks::do_gather_texts(std::string_view mine) {
  const auto n = static_cast<std::size_t>(size());
  std::vector<std::int64_t> bytes(n);
  bytes[static_cast<std::size_t>(process())] = static_cast<std::int64_t>(mine.size());
  const std::vector<std::int64_t> eight(n, sizeof(std::int64_t));
  auto* const sizes = reinterpret_cast<char*>(bytes.data());
  gather_bytes("gather_texts", sizes + process() * static_cast<std::ptrdiff_t>(sizeof(std::int64_t)), sizes, eight);
  std::string all(static_cast<std::size_t>(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0})), '\0');
  gather_bytes("gather_texts", mine.data(), all.data(), bytes);
  std::vector<std::string> texts;
  for (std::size_t r = 0, at = 0; r < n; at += static_cast<std::size_t>(bytes[r++]))
    texts.push_back(all.substr(at, static_cast<std::size_t>(bytes[r])));
  return texts;
}

std::shared_ptr<mpi_ranks> mpi_ranks::split_by(std::span<const int> group_of) {
  do_barrier();  // MPI_Comm_split blocks, so all must have come
  const int mine = group_of[static_cast<std::size_t>(process())];
  std::vector<int> members;
  int rank = 0;
  for (int r = 0; r < size(); ++r) {
    if (mine < 0 || group_of[static_cast<std::size_t>(r)] != mine) continue;
    if (r == process()) rank = static_cast<int>(members.size());
    members.push_back(members_[static_cast<std::size_t>(r)]);
  }
  const std::lock_guard lock(mpi_job::calls());
  const mpi_handle comm = job_->library().split(comm_, mine);
  if (comm == 0) return nullptr;
  return std::make_shared<mpi_ranks>(job_, comm, std::move(members), rank, *local_devices()[0]);
}

std::vector<communicator::part> mpi_ranks::do_split(std::span<const int> group_of) {
  std::vector<part> parts = parts_of(group_of);
  std::shared_ptr<mpi_ranks> group = split_by(group_of);
  if (!parts.empty()) parts[0].group = std::move(group);
  return parts;
}

}  // namespace sinter::runtime
