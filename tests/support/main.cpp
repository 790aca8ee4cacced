// The test runner's main function, compiled once. SINTER_TEST_DEVICE ("cpu", "cuda:0") selects the device of the whole
// suite; a machine without it fails here, in one line. "simulated" selects a simulated GPU, and meshes of three of them, on
// which the cases of tests/dist run; SINTER_TEST_ORDER=N draws the order of their queued work. SINTER_TEST_SHARD=i/n runs a part of the suite (shard.hpp),
// SINTER_TEST_QUEUE what is left in a queue (queue.hpp). `-ltc -r=units` lists suite, file and name of each case.
// On a GPU kernels run in their optimised tier from the beginning, however small the case; SINTER_TIER=0 takes the
// baseline one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#ifdef SINTER_HAS_CUDA  // before the function cuda is declared
#include "backends/cuda/driver/hooks.hpp"
#endif
#include "dist/meshes.hpp"
#include "support/cuda_coverage.hpp"
#include "support/heartbeat.hpp"
#include "support/listener.hpp"
#include "support/queue.hpp"
#include "support/shard.hpp"
#include "support/simulated_gpu.hpp"
#include "sinter/device.hpp"
#include "sinter/error.hpp"

namespace {

using sinter::test::listener;
using sinter::test::this_shard;

std::vector<std::string>& names_elsewhere() {
  static std::vector<std::string> names;
  return names;
}

/// Fills names_elsewhere() with the cases that belong to other shards; writes nothing.
class shard_listing : public listener {
 public:
  using listener::listener;
  void report_query(const doctest::QueryData& all) override {
    int number = 0;
    for (unsigned k = 0; k < all.num_data; ++k) {
      const doctest::TestCaseData& c = *all.data[k];
      if (std::strcmp(c.m_test_suite, sinter::test::sharded_suite) == 0 || this_shard().takes(number++)) continue;
      names_elsewhere().emplace_back(c.m_name);
    }
  }
};
REGISTER_REPORTER("shard_listing", 1, shard_listing);

/// Of each case a line: suite, source file, name.
class unit_listing : public listener {
 public:
  using listener::listener;
  void report_query(const doctest::QueryData& all) override {
    for (unsigned k = 0; k < all.num_data; ++k) {
      const doctest::TestCaseData& c = *all.data[k];
      std::cout << c.m_test_suite << '\t' << sinter::test::short_file_name(c.m_file.c_str()) << '\t' << c.m_name
                << '\n';
    }
  }
};
REGISTER_REPORTER("units", 1, unit_listing);

void keep_this_shard(doctest::Context& context) {
  if (this_shard().count == 1) return;
  const char* arguments[] = {"", "--list-test-cases", "--reporters=shard_listing"};
  doctest::Context query(3, arguments);
  query.run();
  for (const auto& name : names_elsewhere())
    context.addFilter("test-case-exclude", sinter::test::as_filter(name).c_str());
}

/// The cases that are this process's: of a queue, of a shard, or all. False where main has to return `result`.
bool run_cases(int argc, char** argv, int& result) {
  if (const char* queues = std::getenv("SINTER_TEST_QUEUE"); queues && *queues) {
    const std::string paths = queues;
    ::unsetenv("SINTER_TEST_QUEUE");  // processes that cases start run what their arguments say
    result = sinter::test::run_queues(argc, argv, paths);
    return true;
  }
  doctest::Context context(argc, argv);
  keep_this_shard(context);
  result = context.run();
  return !context.shouldExit();
}

void use_simulated_devices() {
  sinter::test::devices_of_meshes() = {sim::first(), sim::second(), sim::third()};
  sinter::set_default_device(sim::first());
  const char* const order = std::getenv("SINTER_TEST_ORDER");
  const std::uint64_t seed = order ? std::strtoull(order, nullptr, 10) : 1;
  sim::set_order(seed, seed % 2 == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const char* device = std::getenv("SINTER_TEST_DEVICE");
  if (device && std::strcmp(device, "simulated") == 0) {
    use_simulated_devices();
  } else if (device && *device) {
    try {
      sinter::set_default_device(device);
    } catch (const sinter::error& e) {
      std::cerr << "SINTER_TEST_DEVICE: " << e.what() << '\n';
      return 1;
    }
  }
#ifdef SINTER_HAS_CUDA
  using namespace sinter;  // in which cuda names a function, too: a qualified name would be ambiguous
  if (!std::getenv("SINTER_TIER")) cuda::set_tier(cuda::tier::optimised);
#endif
  // A static array has opened the default device by now, whatever device the suite was to have.
  if (sinter::memory(sinter::cpu).used != 0) {
    std::cerr << "an array was made before main: cases make their own\n";
    return 1;
  }
  const bool covers = sinter::test::covers_cuda();
  if (covers) sinter::test::collect_cuda_kernels();
  int result = 0;
  if (!run_cases(argc, argv, result) || !covers) return result;
  return sinter::test::report_cuda_coverage(std::cout) ? 1 : result;
}
