// progress: what is drawn on a terminal and when, with a clock of the test's own, and that nothing is drawn elsewhere.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ops/tuning/progress_bar.hpp"
#include "sinter/progress.hpp"

using sinter::ops::draws_on;
using sinter::ops::progress_bar;
using sinter::ops::progress_line;

namespace {

const std::string clear = "\r\x1b[K";

std::string read_available(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = ::read(fd, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  return text;
}

/// A terminal of a given width whose other end the test reads.
struct terminal {
  int screen = -1, program = -1;
  explicit terminal(unsigned short columns = 80) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    termios plain{};
    ::cfmakeraw(&plain);  // characters come through as they were written
    REQUIRE(::openpty(&screen, &program, nullptr, &plain, &size) == 0);
    ::fcntl(screen, F_SETFL, O_NONBLOCK);
  }
  ~terminal() {
    ::close(screen);
    ::close(program);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  std::string shown() const { return read_available(screen); }
};

struct pipe_pair {
  int out = -1, in = -1;
  pipe_pair() {
    int fd[2];
    REQUIRE(::pipe(fd) == 0);
    out = fd[0];
    in = fd[1];
    ::fcntl(out, F_SETFL, O_NONBLOCK);
  }
  ~pipe_pair() {
    ::close(out);
    ::close(in);
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
};

std::unique_ptr<progress_bar> make(int fd, double& time, std::int64_t total) {
  return std::make_unique<progress_bar>(
      total,
      progress_bar::options{
          .name = "work", .unit = "rows", .fd = fd, .draws = draws_on(fd, "xterm"), .clock = [&time] { return time; }});
}

}  // namespace

TEST_CASE("progress: a terminal is drawn on; a pipe, a file, a closed descriptor and a dumb terminal are not") {
  const terminal t;
  const pipe_pair p;
  CHECK(draws_on(t.program, "xterm"));
  CHECK(draws_on(t.program, nullptr));
  CHECK_FALSE(draws_on(t.program, "dumb"));
  CHECK_FALSE(draws_on(p.in, "xterm"));
  CHECK_FALSE(draws_on(-1, "xterm"));
  const int file = ::open("/dev/null", O_WRONLY);
  CHECK_FALSE(draws_on(file, "xterm"));
  ::close(file);
}

TEST_CASE("progress: nothing within two seconds, then the line, at most ten times a second, and cleared at the end") {
  const terminal t;
  double time = 100;
  const auto bar = make(t.program, time, 100);
  for (int k = 0; k < 19; ++k) {
    time = 100 + 0.1 * k;
    bar->tick(1);
  }
  CHECK(t.shown() == "");
  time = 102;
  bar->tick(1);
  CHECK(t.shown() ==
        clear + "work 20% [" + std::string(7, '#') + std::string(30, '.') + "] 20/100 rows, 10.0/s, 0:08 left");
  time = 102.09;
  bar->tick(1);
  CHECK(t.shown() == "");
  time = 104.1;
  bar->tick(19);
  const std::string line = t.shown();
  CHECK(line.find(clear + "work 40% [") == 0);
  CHECK(line.find("40/100 rows, 9.76/s, 0:07 left") != std::string::npos);
  bar->finish();
  CHECK(t.shown() == clear);
  time = 200;
  bar->tick(1);
  bar->finish();
  CHECK(t.shown() == "");
}

TEST_CASE("progress: short work leaves no trace, and neither does the destructor of a bar that was not drawn") {
  const terminal t;
  double time = 0;
  auto bar = make(t.program, time, 10);
  time = 1.99;
  bar->tick(10);
  bar.reset();
  CHECK(t.shown() == "");
  bar = make(t.program, time, 10);
  time = 5;
  bar->tick(3);
  CHECK(t.shown() != "");
  bar.reset();
  CHECK(t.shown() == clear);
}

TEST_CASE("progress: nothing is written to a pipe, ever") {
  const pipe_pair p;
  double time = 0;
  auto bar = make(p.in, time, 10);
  for (; time < 20; time += 1) bar->tick(1);
  bar->finish();
  bar.reset();
  CHECK(read_available(p.out) == "");
}

TEST_CASE(
    "progress: the line fits the terminal, and loses the bar, then the figures, then its end where it is narrow") {
  for (const unsigned short columns : {120, 80, 60, 45, 30, 12, 5, 1}) {
    const terminal t(columns);
    double time = 0;
    const auto bar = make(t.program, time, 1000);
    time = 4;
    bar->tick(500);
    const std::string shown = t.shown();
    CAPTURE(columns);
    REQUIRE(shown.find(clear) == 0);
    CHECK(shown.size() - clear.size() < columns);
  }
  CHECK(progress_line("work", "rows", {500, 1000, 4}, 80) ==
        "work 50% [" + std::string(18, '#') + std::string(18, '.') + "] 500/1000 rows, 125/s, 0:04 left");
  CHECK(progress_line("work", "rows", {500, 1000, 4}, 48) == "work 50% 500/1000 rows, 125/s, 0:04 left");
  CHECK(progress_line("work", "rows", {500, 1000, 4}, 30) == "work 50%");
  CHECK(progress_line("work", "rows", {500, 1000, 4}, 5) == "work");
  CHECK(progress_line("", "", {0, 8, 3}, 80).find("0% [....") == 0);
}

TEST_CASE("progress: with nothing done the time left is unknown; more than all is all; without a total there is none") {
  CHECK(progress_line("", "", {0, 8, 3}, 80).find("0/8, ?/s, ? left") != std::string::npos);
  CHECK(progress_line("", "", {9, 8, 3}, 80).find("100%") == 0);
  CHECK(progress_line("", "", {9, 8, 3}, 80).find("8/8, 3.00/s, 0:00 left") != std::string::npos);
  CHECK(progress_line("read", "lines", {90, 0, 30}, 80) == "read 90 lines, 3.00/s, 0:30");
  CHECK(progress_line("", "", {1, 4, 100}, 80).find("1/4, 100 s each, 5:00 left") != std::string::npos);
}

TEST_CASE("progress: ticks of several threads are all counted") {
  const terminal t(200);
  double time = 0;
  const auto bar = make(t.program, time, 40001);
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&] {
      for (int n = 0; n < 5000; ++n) bar->tick(1);
    });
  for (auto& thread : threads) thread.join();
  CHECK(t.shown() == "");
  time = 10;
  bar->tick(1);
  CHECK(t.shown().find("40001/40001 rows") != std::string::npos);
}

TEST_CASE("progress: threads that draw at once write whole lines") {
  const terminal t(70);
  std::atomic<double> time{0};
  progress_bar bar(1000000,
                   {.name = "w", .unit = "", .fd = t.program, .draws = true, .clock = [&time] { return time.load(); }});
  time = 3;
  std::vector<std::thread> threads;
  std::string all;
  std::atomic<int> running{4};
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int n = 0; n < 300; ++n) {
        time = time + 0.2;
        bar.tick(1);
      }
      --running;
    });
  while (running != 0) all += t.shown();  // or the terminal's buffer would fill, and the threads wait
  for (auto& thread : threads) thread.join();
  all += t.shown();
  std::size_t lines = 0;
  for (std::size_t at = 0; at < all.size(); ++lines) {
    REQUIRE(all.compare(at, clear.size(), clear) == 0);
    const std::size_t end = std::min(all.find('\r', at + 1), all.size());
    const std::string line = all.substr(at + clear.size(), end - at - clear.size());
    CHECK(line.find("w 0% [") == 0);
    CHECK(line.find(" left") == line.size() - 5);
    at = end;
  }
  CHECK(lines > 0);
}

TEST_CASE("progress: the public bar writes nothing where stderr is no terminal") {
  const pipe_pair p;
  const int before = ::dup(STDERR_FILENO);
  ::dup2(p.in, STDERR_FILENO);
  {
    sinter::progress bar(3, {.name = "quiet"});
    bar.tick();
    bar.tick(2);
    bar.finish();
    const sinter::progress unknown(0);
  }
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  CHECK(read_available(p.out) == "");
}
