// The progress bar of sinter/progress.hpp, with terminal and clock as arguments.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace sinter::ops {

/// Whether a bar may be drawn to a file: it is a terminal with cursor movement (not "dumb").
bool draws_on(int fd, const char* term) noexcept;
/// Seconds of the steady clock.
double steady_seconds() noexcept;

struct progress_state {
  std::int64_t done = 0, total = 0;  // total <= 0: unknown
  double elapsed = 0;                // seconds
};
/// One line without line end, of at most `columns` characters: parts that do not fit are omitted, the bar first.
std::string progress_line(const std::string& name, const std::string& unit, const progress_state& state, int columns);

class progress_bar {
 public:
  struct options {
    std::string name, unit;
    int fd = 2;
    bool draws = false;
    double delay = 2, interval = 0.1;  // seconds before the first drawing, and between two
    std::function<double()> clock = steady_seconds;
  };
  progress_bar(std::int64_t total, options o);
  ~progress_bar() { finish(); }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  void tick(std::int64_t n) noexcept;
  void finish() noexcept;

 private:
  void draw(double now);

  const options options_;
  const std::int64_t total_;
  double begin_ = 0;
  std::atomic<std::int64_t> done_{0};
  std::atomic<double> next_{0};  // time of the next drawing
  std::mutex mutex_;             // guards the members below, and the terminal line
  bool drawn_ = false, finished_ = false;
};

}  // namespace sinter::ops
