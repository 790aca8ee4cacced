// A test program that runs for minutes reports its progress: every ten seconds the case that begins, and each case that
// took longer. Included by main.cpp only.
#pragma once
#include <chrono>
#include <iostream>

#include "support/listener.hpp"

namespace sinter::test {

class heartbeat : public listener {
 public:
  using listener::listener;
  void test_case_start(const doctest::TestCaseData& c) override {
    current_ = &c;
    ++begun_;
    if (clock::now() - said_ >= every) say() << "case " << begun_ << " begins: " << c.m_name << std::endl;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (std::chrono::duration<double>(stats.seconds) >= every && current_)
      say() << static_cast<int>(stats.seconds) << " s were taken by: " << current_->m_name << std::endl;
  }

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
