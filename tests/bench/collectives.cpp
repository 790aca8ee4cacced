// Transfers between ranks: of a job under mpirun, else of the GPUs of this machine, else of four ranks of the CPU.
#include "bench.hpp"

#include <cstdlib>
#include <functional>
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/collectives/communicator.hpp"

namespace bench {
namespace {

namespace runtime = sinter::runtime;
using runtime::block;
using runtime::communicator;

/// Memory of the local ranks.
struct parts {
  parts(communicator& c, std::int64_t bytes) {
    for (runtime::backend* d : c.local_devices()) {
      memory.push_back(std::make_unique<runtime::buffer>(*d, static_cast<std::size_t>(bytes)));
      blocks.push_back({memory.back().get(), 0, bytes});
    }
  }
  std::vector<std::unique_ptr<runtime::buffer>> memory;
  std::vector<block> blocks;
};

void wait_for_all(communicator& c) {
  for (runtime::backend* d : c.local_devices()) d->synchronize();
  c.barrier();
}

/// Seconds of a call, the same on all processes: the first one's median of batches, whose length it decides.
double seconds_of_call(communicator& c, const std::function<void()>& call) {
  const auto batch = [&](int calls) {
    wait_for_all(c);
    const double seconds = seconds_of([&] {
      for (int k = 0; k < calls; ++k) call();
      wait_for_all(c);
    });
    return std::stod(c.gather_texts(std::to_string(seconds)).front());
  };
  (void)batch(2);
  const int calls = std::clamp(static_cast<int>(0.03 * 5 / batch(5)), 1, 2000);
  std::vector<double> seconds;
  for (int k = 0; k < 7; ++k) seconds.push_back(batch(calls) / calls);
  return median(seconds);
}

/// A collective of `bytes` given by each rank, and what passes a rank's link then.
struct collective {
  const char* name;
  std::function<void(std::int64_t)> call;
  std::function<double(double)> moved;
};

std::string size_name(std::int64_t bytes) {
  return bytes >= 1 << 20   ? std::to_string(bytes >> 20) + " MiB"
         : bytes >= 1 << 10 ? std::to_string(bytes >> 10) + " KiB"
                            : std::to_string(bytes) + " B";
}

void measure(communicator& c, const collective& what, bool prints) {
  constexpr std::int64_t sizes[] = {64, 4 << 10, 256 << 10, 4 << 20, 64 << 20};
  std::string row = std::string("| ") + what.name + " |";
  double least = 0, most = 0;
  for (const std::int64_t bytes : sizes) {
    const double seconds = seconds_of_call(c, [&] { what.call(bytes); });
    if (bytes == sizes[0]) least = seconds;
    most = seconds;
    char text[64];
    std::snprintf(text, sizeof text, " %.1f |", seconds * 1e6);
    row += text;
  }
  char text[96];
  std::snprintf(text, sizeof text, " %.1f | %.2f |", least * 1e6,
                what.moved(static_cast<double>(sizes[4])) / (most - least) / 1e9);
  if (prints) std::printf("%s%s\n", row.c_str(), text);
  if (prints) std::fflush(stdout);
}

void table_of(communicator& c) {
  const bool prints = c.process() == 0;
  const int n = c.size();
  if (prints) {
    std::printf("%d ranks, %d of this process, on %s, by %s\n\n", n, static_cast<int>(c.local_ranks().size()),
                c.local_devices()[0]->description().c_str(), c.transport().c_str());
    std::printf("| us of | ");
    for (const std::int64_t bytes : {64, 4 << 10, 256 << 10, 4 << 20, 64 << 20})
      std::printf("%s | ", size_name(bytes).c_str());
    std::printf("latency, us | GB/s of a rank |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  }
  constexpr std::int64_t most = 64 << 20;
  const parts from(c, most), to(c, most), all(c, most * n);
  const auto first = [](const parts& p, std::int64_t bytes, std::int64_t offset = 0) {
    std::vector<block> result = p.blocks;
    for (block& b : result) b.bytes = bytes, b.offset = offset;
    return result;
  };
  const double share = static_cast<double>(n - 1) / n;
  const auto ring = [&](std::int64_t bytes) {
    std::vector<runtime::message> messages;
    const auto at = [&](int rank, const parts& p, std::int64_t offset) {
      const int k = c.local_index(rank);
      return k < 0 ? block{} : block{p.memory[static_cast<std::size_t>(k)].get(), offset, bytes / 2};
    };
    for (int r = 0; r < n; ++r) {
      const int next = (r + 1) % n;
      if (c.local_index(r) < 0 && c.local_index(next) < 0) continue;
      messages.push_back({r, next, at(r, from, 0), at(next, to, 0)});
      messages.push_back({next, r, at(next, from, bytes / 2), at(r, to, bytes / 2)});
    }
    c.exchange(messages);
  };
  const auto to_all = [&](std::int64_t bytes) {
    const std::int64_t each = bytes / n;
    const std::vector<std::int64_t> sizes(c.local_ranks().size() * static_cast<std::size_t>(n), each);
    c.all_to_all(first(from, each * n), sizes, first(to, each * n), sizes);
  };
  const auto scatter = [&](std::int64_t bytes) {
    const std::int64_t each = bytes / 4 / n;
    const std::vector<std::int64_t> elements(static_cast<std::size_t>(n), each);
    c.reduce_scatter(first(from, each * n * 4), first(to, each * 4), elements, sinter::float32,
                     runtime::reduce_op::sum);
  };
  const collective list[] = {
      {"exchange of edges with both neighbours in a ring", ring, [](double b) { return b; }},
      {"all_gather", [&](std::int64_t b) { c.all_gather(first(from, b), first(all, b * n)); },
       [&](double b) { return b * (n - 1); }},
      {"all_to_all", to_all, [&](double b) { return b * share; }},
      {"broadcast", [&](std::int64_t b) { c.broadcast(first(from, b), 0); }, [](double b) { return b; }},
      {"all_reduce, float32 sum",
       [&](std::int64_t b) { c.all_reduce(first(from, b), first(to, b), sinter::float32, runtime::reduce_op::sum); },
       [&](double b) { return 2 * b * share; }},
      {"reduce_scatter, float32 sum", scatter, [&](double b) { return b * share; }},
  };
  for (const collective& one : list) measure(c, one, prints);
  const double seconds = seconds_of_call(c, [&] { c.barrier(); });
  if (prints) std::printf("| barrier | %.1f | | | | | | |\n\n", seconds * 1e6);
}

}  // namespace

void collective_rows() {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  const auto device = [&](int k) {
    return &runtime::get_backend({gpu ? runtime::device_kind::cuda : runtime::device_kind::cpu, gpu ? k : 0});
  };
  if (runtime::is_in_job()) {
    const int gpus = std::max(1, sn::device_count(sn::device_kind::cuda));
    table_of(*runtime::open_job(*device(runtime::locate_in_job().on_machine % gpus)));
    return;
  }
  const int count = gpu ? sn::device_count(sn::device_kind::cuda) : 4;
  for (int n = gpu ? 2 : count; n <= count; n *= 2) {
    std::vector<runtime::backend*> devices;
    for (int k = 0; k < n; ++k) devices.push_back(device(k));
    const auto chosen = runtime::open_communicator(devices), copies = runtime::open_peer_copies(devices);
    table_of(*chosen);
    if (chosen->transport() != copies->transport()) table_of(*copies);
  }
  if (gpu && count < 2) std::printf("left out: transfers between GPUs need two\n");
}

}  // namespace bench
