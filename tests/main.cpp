// The test runner's main function, compiled once. SINTER_TEST_DEVICE ("cpu", "cuda:0") picks the device of the whole
// suite; a machine without it fails here, in one line. SINTER_TEST_SHARD=i/n runs a part of the suite (shard.hpp).
// On a GPU kernels run in their tuned form from the beginning, however small the case; SINTER_TIER=0 takes the lean
// one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "cuda_coverage.hpp"
#include "shard.hpp"
#ifdef SINTER_HAS_CUDA
#include "backends/cuda/cuda_hooks.hpp"
#endif
#include "sinter/device.hpp"
#include "sinter/error.hpp"

namespace {

using sinter::test::this_shard;

std::vector<std::string>& names_elsewhere() {
  static std::vector<std::string> names;
  return names;
}

/// Fills names_elsewhere() with the cases that belong to other shards; writes nothing.
class shard_listing : public doctest::IReporter {
 public:
  explicit shard_listing(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData& all) override {
    int number = 0;
    for (unsigned k = 0; k < all.num_data; ++k) {
      const doctest::TestCaseData& c = *all.data[k];
      if (std::strcmp(c.m_test_suite, sinter::test::sharded_suite) == 0 || this_shard().takes(number++)) continue;
      names_elsewhere().emplace_back(c.m_name);
    }
  }
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_REPORTER("shard_listing", 1, shard_listing);

void keep_this_shard(doctest::Context& context) {
  if (this_shard().count == 1) return;
  const char* arguments[] = {"", "--list-test-cases", "--reporters=shard_listing"};
  doctest::Context query(3, arguments);
  query.run();
  for (auto& name : names_elsewhere()) {
    // In a filter a comma separates and a quote groups; '?' stands for any character.
    for (char& c : name) {
      if (std::strchr(",\"\\", c)) c = '?';
    }
    context.addFilter("test-case-exclude", name.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* device = std::getenv("SINTER_TEST_DEVICE");
  if (device && *device) {
    try {
      sinter::set_default_device(device);
    } catch (const sinter::error& e) {
      std::cerr << "SINTER_TEST_DEVICE: " << e.what() << '\n';
      return 1;
    }
  }
#ifdef SINTER_HAS_CUDA
  using namespace sinter;  // in which cuda names a function, too: a qualified name would be ambiguous
  if (!std::getenv("SINTER_TIER")) cuda::set_tier(cuda::tier::tuned);
#endif
  doctest::Context context(argc, argv);
  keep_this_shard(context);
  const bool covers = sinter::test::covers_cuda();
  if (covers) sinter::test::collect_cuda_kernels();
  const int result = context.run();
  if (!covers || context.shouldExit()) return result;
  return sinter::test::report_cuda_coverage(std::cout) ? 1 : result;
}
