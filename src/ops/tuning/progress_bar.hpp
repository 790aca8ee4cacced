// The progress bar behind sinter/progress.hpp, with its terminal and its clock as arguments.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace sinter::ops {

/// Whether a bar may be drawn on a file: it is a terminal, and not one without cursor movement ("dumb").
bool draws_on(int fd, const char* term) noexcept;
/// Seconds of the steady clock.
double steady_seconds() noexcept;

struct progress_state {
  std::int64_t done = 0, total = 0;  // total <= 0: not known
  double elapsed = 0;                // seconds
};
/// One line without its end, of at most `columns` characters: what does not fit is left out, the bar first.
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
  std::atomic<double> next_{0};  // when to draw again
  std::mutex mutex_;             // of what follows, and of the line
  bool drawn_ = false, finished_ = false;
};

}  // namespace sinter::ops
