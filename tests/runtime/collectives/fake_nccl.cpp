// A group of calls becomes steps on the queues when it ends; see fake_nccl.hpp.
#include "runtime/collectives/fake_nccl.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sinter/dtype.hpp"
#include "support/simulated_gpu.hpp"

using sinter::runtime::ncclUniqueId;

extern "C" struct sinter::runtime::ncclComm {
  int device, rank, size;
  std::shared_ptr<std::vector<ncclComm*>> members;
};

namespace fake_nccl {
namespace {

using sinter::runtime::ncclComm;

struct operation {
  std::string name;
  const char* from;
  char* to;
  std::size_t count;
  int type, extra;  // root, peer or reduction
  ncclComm* comm;
  void* stream;
};

// The watch's thread calls, too, to the end of the process: nothing is destroyed.
settings& current = *new settings;
std::mutex& mutex = *new std::mutex;
int depth = 0;
std::vector<operation>& group = *new std::vector<operation>;
std::vector<std::function<void()>>& held = *new std::vector<std::function<void()>>;
std::vector<ncclComm*>& all_comms = *new std::vector<ncclComm*>;  // what is enqueued may use them after their end

void demand(bool holds, const std::string& what) {
  if (!holds && current.misuse.empty()) current.misuse = what;
}

/// The result of a call, noted by its text.
int result_of(const std::string& name, const std::string& more = "") {
  current.calls.push_back(name + more);
  return current.fails == name ? current.code : 0;
}

std::size_t bytes_of(int type) {
  constexpr std::size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

template <class T>
void combine(char* to, const char* more, std::size_t count, int op) {
  for (std::size_t k = 0; k < count; ++k) {
    T a, b;
    std::memcpy(&a, to + k * sizeof(T), sizeof(T));
    std::memcpy(&b, more + k * sizeof(T), sizeof(T));
    a = static_cast<T>(op == 0 ? a + b : op == 1 ? a * b : op == 2 ? (a < b ? b : a) : (b < a ? b : a));
    std::memcpy(to + k * sizeof(T), &a, sizeof(T));
  }
}
template <class H>
void combine_small(char* to, const char* more, std::size_t count, int op) {
  for (std::size_t k = 0; k < count; ++k) {
    H a, b;
    std::memcpy(&a, to + 2 * k, 2);
    std::memcpy(&b, more + 2 * k, 2);
    a = H(op == 0 ? float(a) + float(b) : float(a) * float(b));
    std::memcpy(to + 2 * k, &a, 2);
  }
}
void combine_of(int type, char* to, const char* more, std::size_t count, int op) {
  switch (type) {
    case 0: return combine<std::int8_t>(to, more, count, op);
    case 1: return combine<std::uint8_t>(to, more, count, op);
    case 2: return combine<std::int32_t>(to, more, count, op);
    case 3: return combine<std::uint32_t>(to, more, count, op);
    case 4: return combine<std::int64_t>(to, more, count, op);
    case 5: return combine<std::uint64_t>(to, more, count, op);
    case 6: return combine_small<sinter::half>(to, more, count, op);
    case 7: return combine<float>(to, more, count, op);
    case 8: return combine<double>(to, more, count, op);
    default: return combine_small<sinter::bfloat>(to, more, count, op);
  }
}

/// What a rank gets of its call: computed on its queue after all ranks have come, written after all have computed.
std::function<void()> result_for(const operation& o, const std::vector<operation>& all, char*& to,
                                 std::shared_ptr<std::vector<char>> result) {
  const std::size_t bytes = o.count * bytes_of(o.type);
  to = o.to;
  const auto rank = static_cast<std::size_t>(o.comm->rank);
  if (o.name == "AllGather")
    return [=] {
      for (const operation& x : all) result->insert(result->end(), x.from, x.from + bytes);
    };
  if (o.name == "Broadcast") {
    const char* const from = all[static_cast<std::size_t>(o.extra)].from;
    return [=] { result->assign(from, from + bytes); };
  }
  const std::size_t skip = o.name == "ReduceScatter" ? rank * bytes : 0;
  return [=] {
    result->assign(all[0].from + skip, all[0].from + skip + bytes);
    for (std::size_t r = 1; r < all.size(); ++r)
      combine_of(o.type, result->data(), all[r].from + skip, o.count, o.extra);
  };
}

struct share {
  ncclComm* comm;
  void* stream;
  std::function<void()> compute;
  char* to;
  std::shared_ptr<std::vector<char>> result;
};

void plan_collectives(std::vector<share>& shares, const std::map<ncclComm*, std::vector<operation>>& by_rank,
                      const std::vector<ncclComm*>& members) {
  const std::size_t calls = by_rank.count(members[0]) ? by_rank.at(members[0]).size() : 0;
  for (ncclComm* const m : members)
    demand((by_rank.count(m) ? by_rank.at(m).size() : 0) == calls, "not all ranks have made a collective call");
  for (std::size_t k = 0; k < calls && current.misuse.empty(); ++k) {
    std::vector<operation> all;
    for (ncclComm* const m : members) all.push_back(by_rank.at(m)[k]);
    for (const operation& o : all) {
      demand(o.name == all[0].name && o.count == all[0].count && o.type == all[0].type && o.extra == all[0].extra,
             "the ranks' calls differ");
      share s{o.comm, o.stream, nullptr, nullptr, std::make_shared<std::vector<char>>()};
      s.compute = result_for(o, all, s.to, s.result);
      shares.push_back(std::move(s));
    }
  }
}

void plan_messages(std::vector<share>& shares, std::vector<operation> sends, const std::vector<operation>& receives) {
  for (const operation& r : receives) {
    std::size_t k = 0;
    while (k < sends.size() && !(sends[k].comm->members == r.comm->members && sends[k].comm->rank == r.extra &&
                                 sends[k].extra == r.comm->rank))
      ++k;
    demand(k < sends.size(), "a receive has no send");
    if (k == sends.size()) return;
    demand(sends[k].count == r.count, "a send and its receive differ in size");
    const char* const from = sends[k].from;
    const auto result = std::make_shared<std::vector<char>>();
    const std::size_t bytes = r.count;
    shares.push_back({r.comm, r.stream, [=] { result->assign(from, from + bytes); }, r.to, result});
    sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(k));
  }
  demand(sends.empty(), "a send has no receive");
}

void run_group() {
  std::map<ncclComm*, std::vector<operation>> by_rank;
  std::vector<operation> sends, receives;
  std::map<ncclComm*, void*> streams;
  std::vector<ncclComm*> members;
  for (const operation& o : group) {
    members = *o.comm->members;
    streams[o.comm] = o.stream;
    if (o.name == "Send") sends.push_back(o);
    else if (o.name == "Recv") receives.push_back(o);
    else by_rank[o.comm].push_back(o);
  }
  group.clear();
  std::vector<share> shares;
  if (!members.empty()) plan_collectives(shares, by_rank, members);
  plan_messages(shares, sends, receives);
  if (!current.misuse.empty()) return;
  const auto meet = [&] {
    for (const auto& [a, on_a] : streams)
      for (const auto& [b, on_b] : streams)
        if (a != b) sim::order(sinter::cuda(a->device), on_a, sinter::cuda(b->device), on_b);
  };
  for (const auto& [c, on] : streams)
    if (current.hangs) held.push_back(sim::hold(sinter::cuda(c->device), on));
  meet();
  for (const share& s : shares) sim::enqueue(sinter::cuda(s.comm->device), s.stream, s.compute);
  meet();
  for (const share& s : shares) {
    char* const to = s.to;
    const auto result = s.result;
    sim::enqueue(sinter::cuda(s.comm->device), s.stream, [=] { std::memcpy(to, result->data(), result->size()); });
  }
}

int add(operation o) {
  const std::lock_guard lock(mutex);
  demand(depth > 0, o.name + " outside of a group");
  const int result = result_of(o.name, " rank " + std::to_string(o.comm->rank) + " of " + std::to_string(o.comm->size) +
                                           ", " + std::to_string(o.count) + " of type " + std::to_string(o.type));
  if (current.fails == o.name) return current.code;
  group.push_back(std::move(o));
  return result;
}

const char* as_chars(const void* p) { return static_cast<const char*>(p); }
char* as_chars(void* p) { return static_cast<char*>(p); }

sinter::runtime::nccl_api make_api() {
  sinter::runtime::nccl_api a;
  a.ncclGetVersion = [](int* v) { return *v = 22105, 0; };
  a.ncclGetErrorString = [](int code) -> const char* { return code == 3 ? "internal error" : "remote error"; };
  a.ncclGetUniqueId = [](ncclUniqueId* id) {
    const std::lock_guard lock(mutex);
    std::strcpy(id->internal, "the only one");
    return result_of("GetUniqueId");
  };
  a.ncclCommInitAll = [](ncclComm** comms, int count, const int* devices) {
    const std::lock_guard lock(mutex);
    if (const int result = result_of("CommInitAll", " " + std::to_string(count))) return result;
    const auto members = std::make_shared<std::vector<ncclComm*>>();
    for (int k = 0; k < count; ++k) members->push_back(comms[k] = new ncclComm{devices[k], k, count, members});
    all_comms.insert(all_comms.end(), members->begin(), members->end());
    current.opened += count;
    return 0;
  };
  a.ncclCommInitRankConfig = [](ncclComm** comm, int count, ncclUniqueId id, int rank,
                                sinter::runtime::nccl_config* config) {
    const std::lock_guard lock(mutex);
    demand(std::strcmp(id.internal, "the only one") == 0, "another unique id");
    demand(config->blocking == 0 && config->size == 24, "another configuration");
    demand(count == 1, "ranks of other processes");
    if (const int result = result_of("CommInitRankConfig")) return result;
    const auto members = std::make_shared<std::vector<ncclComm*>>();
    members->push_back(*comm = new ncclComm{sim::first().index, rank, count, members});
    all_comms.push_back(*comm);
    ++current.opened;
    return 7;
  };
  a.ncclCommGetAsyncError = [](ncclComm*, int* state) {
    const std::lock_guard lock(mutex);
    *state = current.in_progress > 0 ? 7 : current.async_error;
    if (current.in_progress > 0) --current.in_progress;
    return 0;
  };
  a.ncclCommAbort = [](ncclComm*) {
    const std::lock_guard lock(mutex);
    ++current.aborted;
    for (const auto& release : std::exchange(held, {})) release();
    return 0;
  };
  a.ncclCommDestroy = [](ncclComm*) {
    const std::lock_guard lock(mutex);
    ++current.destroyed;
    return 0;
  };
  a.ncclGroupStart = [] {
    const std::lock_guard lock(mutex);
    const int result = result_of("GroupStart");
    if (result == 0) ++depth;
    return result;
  };
  a.ncclGroupEnd = [] {
    const std::lock_guard lock(mutex);
    demand(depth > 0, "a group ends that has not begun");
    if (--depth == 0) {
      if (current.fails.empty()) run_group();
      else group.clear();
    }
    if (!current.misuse.empty()) return 5;
    return result_of("GroupEnd");
  };
  a.ncclSend = [](const void* from, std::size_t n, int type, int peer, ncclComm* c, void* on) {
    return add({"Send", as_chars(from), nullptr, n, type, peer, c, on});
  };
  a.ncclRecv = [](void* to, std::size_t n, int type, int peer, ncclComm* c, void* on) {
    return add({"Recv", nullptr, as_chars(to), n, type, peer, c, on});
  };
  a.ncclAllGather = [](const void* from, void* to, std::size_t n, int type, ncclComm* c, void* on) {
    return add({"AllGather", as_chars(from), as_chars(to), n, type, 0, c, on});
  };
  a.ncclBroadcast = [](const void* from, void* to, std::size_t n, int type, int root, ncclComm* c, void* on) {
    return add({"Broadcast", as_chars(from), as_chars(to), n, type, root, c, on});
  };
  a.ncclAllReduce = [](const void* from, void* to, std::size_t n, int type, int op, ncclComm* c, void* on) {
    return add({"AllReduce", as_chars(from), as_chars(to), n, type, op, c, on});
  };
  a.ncclReduceScatter = [](const void* from, void* to, std::size_t n, int type, int op, ncclComm* c, void* on) {
    return add({"ReduceScatter", as_chars(from), as_chars(to), n, type, op, c, on});
  };
  return a;
}

}  // namespace

settings& now() { return current; }
int aborted() {
  const std::lock_guard lock(mutex);
  return current.aborted;
}
void set(int settings::*what, int value) {
  const std::lock_guard lock(mutex);
  current.*what = value;
}
const sinter::runtime::nccl_api& api() {
  static const sinter::runtime::nccl_api all = make_api();
  return all;
}

}  // namespace fake_nccl
