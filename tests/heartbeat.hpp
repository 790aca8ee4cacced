// A test program that runs for minutes says where it is: every ten seconds the case that begins, and each case that
// took longer. Included by main.cpp only.
#pragma once
#include <doctest/doctest.h>

#include <chrono>
#include <iostream>

namespace sinter::test {

class heartbeat : public doctest::IReporter {
 public:
  explicit heartbeat(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& c) override {
    current_ = &c;
    ++begun_;
    if (clock::now() - said_ >= every) say() << "case " << begun_ << " begins: " << c.m_name << std::endl;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (std::chrono::duration<double>(stats.seconds) >= every && current_)
      say() << static_cast<int>(stats.seconds) << " s were taken by: " << current_->m_name << std::endl;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds every{10};

  std::ostream& say() {
    said_ = clock::now();
    return std::cout;
  }

  const doctest::TestCaseData* current_ = nullptr;
  int begun_ = 0;
  clock::time_point said_ = clock::now();
};
REGISTER_LISTENER("heartbeat", 1, heartbeat);

}  // namespace sinter::test
