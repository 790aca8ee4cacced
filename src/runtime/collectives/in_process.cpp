// Ranks of one process: a transfer is a copy on the stream of the rank that gets it.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/collectives/failure.hpp"
#include "runtime/collectives/group_submission.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

std::vector<int> first_ranks(std::size_t count) {
  std::vector<int> ranks(count);
  for (std::size_t k = 0; k < count; ++k) ranks[k] = static_cast<int>(k);
  return ranks;
}

/// A transfer between two ranks, of which both are local.
struct transfer {
  std::size_t from, to;
  block source, target;
};

block part_of(const block& whole, std::int64_t skip, std::int64_t bytes) {
  return {whole.memory, whole.offset + skip, bytes};
}

class peer_copies final : public communicator {
 public:
  peer_copies(std::vector<backend*> devices, std::shared_ptr<failure_record> failure)
      : communicator(static_cast<int>(devices.size()), first_ranks(devices.size()), devices),
        failure_(std::move(failure)) {}

  int process_count() const noexcept override { return 1; }
  int process() const noexcept override { return 0; }
  std::string transport() const override { return "peer copies"; }

 protected:
  void do_all_gather(std::span<const block> sends, std::span<const block> receives,
                     std::span<const std::int64_t> bytes) override {
    std::vector<transfer> all;
    for (std::size_t to = 0; to < receives.size(); ++to) {
      std::int64_t skip = 0;
      for (std::size_t from = 0; from < sends.size(); skip += bytes[from++])
        all.push_back({from, to, sends[from], part_of(receives[to], skip, bytes[from])});
    }
    run(all);
  }
  void do_all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                     std::span<const block> receives, std::span<const std::int64_t>) override {
    const std::size_t n = sends.size();
    std::vector<transfer> all;
    std::vector<std::int64_t> received(n, 0);
    for (std::size_t from = 0; from < n; ++from) {
      std::int64_t skip = 0;
      for (std::size_t to = 0; to < n; ++to) {
        const std::int64_t bytes = send_bytes[from * n + to];
        all.push_back({from, to, part_of(sends[from], skip, bytes), part_of(receives[to], received[to], bytes)});
        skip += bytes;
        received[to] += bytes;
      }
    }
    run(all);
  }
  void do_broadcast(std::span<const block> blocks, int root) override {
    const auto from = static_cast<std::size_t>(root);
    std::vector<transfer> all;
    for (std::size_t to = 0; to < blocks.size(); ++to)
      if (to != from) all.push_back({from, to, blocks[from], blocks[to]});
    run(all);
  }
  void do_exchange(std::span<const message> messages) override {
    std::vector<transfer> all;
    for (const message& m : messages)
      all.push_back({static_cast<std::size_t>(m.from), static_cast<std::size_t>(m.to), m.source, m.target});
    run(all);
  }
  void do_barrier() override {}
  std::vector<std::string> do_gather_texts(std::string_view mine) override { return {std::string(mine)}; }
  std::vector<part> do_split(std::span<const int> group_of) override {
    std::vector<part> parts = parts_of(group_of);
    for (part& p : parts) {
      std::vector<backend*> devices;
      for (const int r : p.members) devices.push_back(local_devices()[static_cast<std::size_t>(r)]);
      p.group = std::make_shared<peer_copies>(std::move(devices), failure_);
    }
    return parts;
  }
  void do_fail(std::string_view message) noexcept override { failure_->raise(message); }
  void do_check(const char* function) override { failure_->throw_if_raised(function); }

 private:
  void run(const std::vector<transfer>& all) {
    group_submission work(local_devices());
    std::vector<std::pair<const char*, char*>> addresses;
    addresses.reserve(all.size());
    for (const transfer& t : all) {
      const char* const source = work.reads(t.to, t.source);
      addresses.emplace_back(source, work.writes(t.to, t.target));
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto [source, target] = addresses[k];
      if (all[k].source.bytes != 0 && source != target) copy(all[k], source, target, work);
    }
  }
  void copy(const transfer& t, const char* source, char* target, group_submission& work) const {
    backend &from = *local_devices()[t.from], &to = *local_devices()[t.to];
    const auto bytes = static_cast<std::size_t>(t.source.bytes);
    if (&from == &to) to.copy(target, source, bytes);
    else to.copy_from_peer(target, from, source, bytes, work.of(t.to).on());
  }

  std::shared_ptr<failure_record> failure_;
};

}  // namespace

communicator_ref open_peer_copies(std::span<backend* const> devices) {
  if (devices.empty()) throw value_error("[communicator] there is no device");
  for (const backend* d : devices)
    if (d->id().kind != devices[0]->id().kind)
      throw value_error("[communicator] " + to_string(devices[0]->id()) + " and " + to_string(d->id()) +
                        " cannot be ranks of one group: they are devices of different kinds");
  return std::make_shared<peer_copies>(std::vector<backend*>(devices.begin(), devices.end()),
                                       std::make_shared<failure_record>());
}

}  // namespace sinter::runtime
