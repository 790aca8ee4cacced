// Collectives of GPUs by NCCL, enqueued on each GPU's current stream.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "runtime/backend.hpp"
#include "runtime/collectives/group_submission.hpp"
#include "runtime/collectives/mpi_ranks.hpp"
#include "runtime/collectives/nccl_group.hpp"
#include "runtime/collectives/nccl_ranks.hpp"
#include "runtime/trace.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {
namespace {

/// What NCCL reduces itself: in floating point its sums and products have an order of their own; its least and greatest
/// numbers do not treat NaN as the library does, so only those of integers are taken.
struct native_reduction {
  nccl_type type;
  nccl_op op;
  std::size_t per_element = 1;
};
std::optional<native_reduction> native_of(dtype t, reduce_op op) {
  const nccl_op own = op == reduce_op::sum    ? nccl_sum
                      : op == reduce_op::prod ? nccl_prod
                      : op == reduce_op::min  ? nccl_min
                                              : nccl_max;
  const bool picks = op == reduce_op::min || op == reduce_op::max;
  switch (t) {
    case dtype::b1:
      return native_reduction{nccl_u8, op == reduce_op::sum || op == reduce_op::max ? nccl_max : nccl_min};
    case dtype::i8: return native_reduction{nccl_i8, own};
    case dtype::u8: return native_reduction{nccl_u8, own};
    case dtype::i32: return native_reduction{nccl_i32, own};
    case dtype::u32: return native_reduction{nccl_u32, own};
    case dtype::i64: return native_reduction{nccl_i64, own};
    case dtype::u64: return native_reduction{nccl_u64, own};
    default: break;
  }
  if (picks) return std::nullopt;
  switch (t) {
    case dtype::f16: return native_reduction{nccl_f16, own};
    case dtype::bf16: return native_reduction{nccl_bf16, own};
    case dtype::f32: return native_reduction{nccl_f32, own};
    case dtype::f64: return native_reduction{nccl_f64, own};
    default: break;
  }
  if (op != reduce_op::sum) return std::nullopt;
  if (t == dtype::c64) return native_reduction{nccl_f32, nccl_sum, 2};
  if (t == dtype::c128) return native_reduction{nccl_f64, nccl_sum, 2};
  return std::nullopt;
}

class nccl_ranks final : public communicator {
 public:
  /// host: of the processes that the ranks are in; null: all are this one's.
  nccl_ranks(std::shared_ptr<nccl_group> group, std::shared_ptr<mpi_ranks> host, int size, std::vector<int> ranks,
             std::vector<backend*> gpus)
      : communicator(size, std::move(ranks), std::move(gpus)), group_(std::move(group)), host_(std::move(host)) {}

  int process_count() const noexcept override { return host_ ? host_->process_count() : 1; }
  int process() const noexcept override { return host_ ? host_->process() : 0; }
  std::string transport() const override { return nccl_version(group_->api()); }

 protected:
  void do_all_gather(std::span<const block> sends, std::span<const block> receives,
                     std::span<const std::int64_t> bytes) override {
    const bool equal = std::all_of(bytes.begin(), bytes.end(), [&](std::int64_t b) { return b == bytes[0]; });
    group_submission work(local_devices());
    const addresses at(work, sends, receives);
    run("all_gather", work, [&] {
      if (equal) {
        for (std::size_t k = 0; k < sends.size(); ++k)
          call("all_gather", "ncclAllGather",
               api().ncclAllGather(at.from[k], at.to[k], size_of(bytes[0]), nccl_u8, comm(k), native(work, k)));
        return;
      }
      std::int64_t skip = 0;
      for (int root = 0; root < size(); skip += bytes[static_cast<std::size_t>(root++)]) {
        const std::int64_t mine = bytes[static_cast<std::size_t>(root)];
        for (std::size_t k = 0; mine != 0 && k < sends.size(); ++k)
          call("all_gather", "ncclBroadcast",
               api().ncclBroadcast(local_ranks()[k] == root ? at.from[k] : at.to[k] + skip, at.to[k] + skip,
                                   size_of(mine), nccl_u8, root, comm(k), native(work, k)));
      }
    });
  }
  void do_all_to_all(std::span<const block> sends, std::span<const std::int64_t> send_bytes,
                     std::span<const block> receives, std::span<const std::int64_t> receive_bytes) override {
    const auto n = static_cast<std::size_t>(size());
    group_submission work(local_devices());
    const addresses at(work, sends, receives);
    std::vector<transfer> all;
    for (std::size_t k = 0; k < sends.size(); ++k) {
      std::int64_t skip_from = 0, skip_to = 0;
      for (std::size_t peer = 0; peer < n; ++peer) {
        const std::int64_t out = send_bytes[k * n + peer], in = receive_bytes[k * n + peer];
        all.push_back({k, static_cast<int>(peer), at.from[k] + skip_from, nullptr, out});
        all.push_back({k, static_cast<int>(peer), nullptr, at.to[k] + skip_to, in});
        skip_from += out;
        skip_to += in;
      }
    }
    transfer_all("all_to_all", work, all);
  }
  void do_broadcast(std::span<const block> blocks, int root) override {
    group_submission work(local_devices());
    std::vector<char*> data;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      data.push_back(local_ranks()[k] == root ? work.reads(k, blocks[k]) : work.writes(k, blocks[k]));
    run("broadcast", work, [&] {
      for (std::size_t k = 0; k < blocks.size(); ++k)
        call("broadcast", "ncclBroadcast",
             api().ncclBroadcast(data[k], data[k], size_of(blocks[k].bytes), nccl_u8, root, comm(k), native(work, k)));
    });
  }
  void do_exchange(std::span<const message> messages) override {
    group_submission work(local_devices());
    std::vector<transfer> all;
    for (const message& m : messages) {
      const int from = local_index(m.from), to = local_index(m.to);
      if (from >= 0) {
        const auto k = static_cast<std::size_t>(from);
        all.push_back({k, m.to, work.reads(k, m.source), nullptr, m.source.bytes});
      }
      if (to >= 0) {
        const auto k = static_cast<std::size_t>(to);
        all.push_back({k, m.from, nullptr, work.writes(k, m.target), m.target.bytes});
      }
    }
    transfer_all("exchange", work, all);
  }
  void do_all_reduce(std::span<const block> sends, std::span<const block> receives, dtype type, reduce_op op) override {
    const auto native_way = native_of(type, op);
    if (!native_way) return communicator::do_all_reduce(sends, receives, type, op);
    group_submission work(local_devices());
    const addresses at(work, sends, receives);
    const std::size_t count = size_of(sends[0].bytes) / itemsize(type) * native_way->per_element;
    run("all_reduce", work, [&] {
      for (std::size_t k = 0; k < sends.size(); ++k)
        call("all_reduce", "ncclAllReduce",
             api().ncclAllReduce(at.from[k], at.to[k], count, native_way->type, native_way->op, comm(k),
                                 native(work, k)));
    });
  }
  void do_reduce_scatter(std::span<const block> sends, std::span<const block> receives,
                         std::span<const std::int64_t> elements, dtype type, reduce_op op) override {
    const auto native_way = native_of(type, op);
    const bool equal = std::all_of(elements.begin(), elements.end(), [&](std::int64_t e) { return e == elements[0]; });
    if (!native_way || !equal) return communicator::do_reduce_scatter(sends, receives, elements, type, op);
    group_submission work(local_devices());
    const addresses at(work, sends, receives);
    run("reduce_scatter", work, [&] {
      for (std::size_t k = 0; k < sends.size(); ++k)
        call("reduce_scatter", "ncclReduceScatter",
             api().ncclReduceScatter(at.from[k], at.to[k], size_of(elements[0]) * native_way->per_element,
                                     native_way->type, native_way->op, comm(k), native(work, k)));
    });
  }
  void do_barrier() override {
    if (host_) host_->barrier();
  }
  std::vector<std::string> do_gather_texts(std::string_view mine) override {
    if (host_) return host_->gather_texts(mine);
    return {std::string(mine)};
  }
  std::vector<part> do_split(std::span<const int> group_of) override {
    std::vector<part> parts = parts_of(group_of);
    if (host_) {  // one rank a process, so one group at most
      std::shared_ptr<mpi_ranks> host = host_->split_by(group_of);
      if (host) parts[0].group = open_nccl_over(std::move(host), *local_devices()[0], "split");
      return parts;
    }
    for (part& p : parts) {
      std::vector<backend*> gpus;
      for (const int r : p.members) gpus.push_back(local_devices()[static_cast<std::size_t>(r)]);
      p.group = open_nccl_here(std::move(gpus), "split", group_->own_failure());
    }
    return parts;
  }
  void do_fail(std::string_view message) noexcept override { group_->fail(message); }
  void do_check(const char* function) override { group_->check(function); }

 private:
  struct addresses {
    addresses(group_submission& work, std::span<const block> sends, std::span<const block> receives) {
      for (std::size_t k = 0; k < sends.size(); ++k) {
        from.push_back(work.reads(k, sends[k]));
        to.push_back(work.writes(k, receives[k]));
      }
    }
    std::vector<char*> from, to;
  };
  /// What a local rank sends to or gets from another rank.
  struct transfer {
    std::size_t local;
    int peer;
    const char* source;
    char* target;
    std::int64_t bytes;
  };

  static std::size_t size_of(std::int64_t n) noexcept { return static_cast<std::size_t>(n); }
  const nccl_api& api() const noexcept { return group_->api(); }
  ncclComm* comm(std::size_t k) const noexcept { return group_->comm(k); }
  void call(const char* function, const char* name, int result) const { group_->call(function, name, result); }
  static void* native(group_submission& work, std::size_t k) noexcept { return work.of(k).on().native(); }

  template <class F>
  void run(const char* function, group_submission& work, F f) {
    std::vector<stream*> streams;
    for (std::size_t k = 0; k < local_devices().size(); ++k) streams.push_back(&work.of(k).on());
    group_->run(function, streams, f);
    if (synchronous()) [[unlikely]] {
      for (stream* const s : streams) s->synchronize();
      group_->check(function);
    }
  }

  /// A rank's transfers to itself are copies on its GPU; the k-th it sends is the k-th it gets.
  void transfer_all(const char* function, group_submission& work, const std::vector<transfer>& all) {
    std::vector<const transfer*> waiting;  // one half of a copy
    bool any = false;
    for (const transfer& t : all) {
      any |= t.bytes != 0 && t.peer != local_ranks()[t.local];
      if (t.bytes == 0 || t.peer != local_ranks()[t.local]) continue;
      const auto other = std::find_if(waiting.begin(), waiting.end(), [&](const transfer* w) {
        return w->local == t.local && (w->source != nullptr) != (t.source != nullptr);
      });
      if (other == waiting.end()) {
        waiting.push_back(&t);
        continue;
      }
      const transfer &gives = t.source ? t : **other, &takes = t.source ? **other : t;
      local_devices()[t.local]->copy(takes.target, gives.source, size_of(t.bytes));
      waiting.erase(other);
    }
    if (!any) return;
    run(function, work, [&] {
      for (const transfer& t : all) {
        if (t.bytes == 0 || t.peer == local_ranks()[t.local]) continue;
        if (t.source)
          call(function, "ncclSend",
               api().ncclSend(t.source, size_of(t.bytes), nccl_u8, t.peer, comm(t.local), native(work, t.local)));
        else
          call(function, "ncclRecv",
               api().ncclRecv(t.target, size_of(t.bytes), nccl_u8, t.peer, comm(t.local), native(work, t.local)));
      }
    });
  }

  std::shared_ptr<nccl_group> group_;
  std::shared_ptr<mpi_ranks> host_;
};

}  // namespace

communicator_ref open_nccl_here(std::vector<backend*> gpus, const char* function,
                                std::shared_ptr<failure_record> failure) {
  auto group = nccl_group::of_process(gpus, function, std::move(failure));
  std::vector<int> ranks(gpus.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const int size = static_cast<int>(gpus.size());
  return std::make_shared<nccl_ranks>(std::move(group), nullptr, size, std::move(ranks), std::move(gpus));
}

communicator_ref open_nccl_over(std::shared_ptr<mpi_ranks> host, backend& gpu, const char* function) {
  return fail_together(*host, [&]() -> communicator_ref {
    ncclUniqueId id{};
    const nccl_api& api = nccl(function);
    if (host->process() == 0 && api.ncclGetUniqueId(&id) != nccl_success)
      throw device_error("[" + std::string(function) + "] ncclGetUniqueId has failed");
    host->broadcast_bytes(function, &id, sizeof id, 0);
    auto group = nccl_group::of_job(gpu, id, host->process(), host->size(), host->shared_job(), function);
    const int size = host->size(), rank = host->process();
    return std::make_shared<nccl_ranks>(std::move(group), std::move(host), size, std::vector<int>{rank},
                                        std::vector<backend*>{&gpu});
  });
}

}  // namespace sinter::runtime
