// Progress on a terminal: when to draw, and the contents of the line.
#include "sinter/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "ops/tuning/format_time.hpp"
#include "ops/tuning/progress_bar.hpp"
#include "platform/files.hpp"

namespace sinter::ops {
namespace {

constexpr int default_columns = 80, narrowest_bar = 10, widest_bar = 40;
constexpr const char* clear_line = "\r\x1b[K";

int columns_of(int fd) noexcept {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_columns;
}

void write_text(int fd, const std::string& text) noexcept { (void)platform::write_all(fd, text.data(), text.size()); }

std::string bar_of(double fraction, int width) {
  const int full = std::clamp(static_cast<int>(fraction * width), 0, width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]";
}

}  // namespace

bool draws_on(int fd, const char* term) noexcept {
  return ::isatty(fd) == 1 && !(term && std::strcmp(term, "dumb") == 0);
}

double steady_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string progress_line(const std::string& name, const std::string& unit, const progress_state& s, int columns) {
  const double rate = s.elapsed > 0 ? static_cast<double>(s.done) / s.elapsed : 0;
  const std::string counted = unit.empty() ? "" : " " + unit;
  std::string head = name, tail;
  double fraction = 0;
  if (s.total > 0) {
    const std::int64_t done = std::min(s.done, s.total);
    fraction = static_cast<double>(done) / static_cast<double>(s.total);
    head += (head.empty() ? "" : " ") + std::to_string(static_cast<int>(100 * fraction)) + "%";
    tail = std::to_string(done) + "/" + std::to_string(s.total) + counted + ", " + format_rate(rate) + ", " +
           (rate > 0 ? format_clock(static_cast<double>(s.total - done) / rate) : "?") + " left";
  } else {
    tail = std::to_string(s.done) + counted + ", " + format_rate(rate) + ", " + format_clock(s.elapsed);
  }
  // Full width would move the cursor to the next line on some terminals.
  const int room = columns - 1;
  const auto length = [](const std::string& text) { return static_cast<int>(text.size()); };
  const int bar = std::min(widest_bar, room - length(head) - length(tail) - 4);
  std::string line = head;
  if (s.total > 0 && bar >= narrowest_bar) line += " " + bar_of(fraction, bar);
  if (length(line) + length(tail) + 1 <= room) line += (line.empty() ? "" : " ") + tail;
  return line.substr(0, static_cast<std::size_t>(std::max(room, 0)));
}

progress_bar::progress_bar(std::int64_t total, options o) : options_(std::move(o)), total_(total) {
  if (!options_.draws) return;
  begin_ = options_.clock();
  next_ = begin_ + options_.delay;
}

void progress_bar::tick(std::int64_t n) noexcept {
  done_.fetch_add(n, std::memory_order_relaxed);
  if (!options_.draws) return;
  try {
    const double now = options_.clock();
    if (now < next_.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || finished_ || now < next_.load(std::memory_order_relaxed)) return;
    draw(now);
    next_ = now + options_.interval;
  } catch (const std::exception&) {
    return;  // a failure to show progress must not stop the work
  }
}

void progress_bar::draw(double now) {
  const progress_state s{done_.load(std::memory_order_relaxed), total_, now - begin_};
  drawn_ = true;
  write_text(options_.fd, clear_line + progress_line(options_.name, options_.unit, s, columns_of(options_.fd)));
}

void progress_bar::finish() noexcept {
  if (!options_.draws) return;
  const std::lock_guard lock(mutex_);
  if (drawn_ && !finished_) write_text(options_.fd, clear_line);
  finished_ = true;
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

progress::progress(std::int64_t total, const progress_kw& kw)
    : bar_(std::make_unique<ops::progress_bar>(
          total, ops::progress_bar::options{
                     .name = kw.name, .unit = kw.unit, .draws = ops::draws_on(STDERR_FILENO, std::getenv("TERM"))})) {}
progress::~progress() = default;
void progress::tick(std::int64_t n) noexcept { bar_->tick(n); }
void progress::finish() noexcept { bar_->finish(); }

}  // namespace sinter::inline v0
