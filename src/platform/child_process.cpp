// Starting a process, reading its output, and ending it after its time limit.
#include "platform/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>

#include "platform/files.hpp"

namespace sinter::platform {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t kept_output = std::size_t{256} << 10;

std::vector<std::string> child_environment(const std::string& folder) {
  std::vector<std::string> result;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
    const std::string_view text = *e;
    if (!text.starts_with("TMPDIR=") && !text.starts_with("LC_ALL=") && !text.starts_with("LANGUAGE=")) {
      result.emplace_back(text);
    }
  }
  result.push_back("TMPDIR=" + folder);
  result.push_back("LC_ALL=C");
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The child must not inherit a signal mask or ignored signals, which would break its own pipes and children. It leads a
// process group, so that the processes that it starts can be ended with it.
void set_attributes(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGCHLD, SIGXFSZ}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int start(const std::string& program, const std::vector<std::string>& arguments, const std::string& folder,
          const unique_fd& output, pid_t& pid) {
  std::vector<std::string> argument_texts{program};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_texts = child_environment(folder);
  const std::vector<char*> argv = pointers(argument_texts);
  const std::vector<char*> envp = pointers(environment_texts);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, output.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_attributes(attributes);
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// The output of a child. Only the beginning of a long text is kept, but all of it is read, so that the child does not
/// block.
class output_reader {
 public:
  explicit output_reader(int fd) : fd_(fd) {}
  int fd() const noexcept { return fd_; }

  /// Reads what is available, up to a megabyte.
  void read_some() {
    char part[16384];
    for (int k = 0; k < 64 && fd_ >= 0; ++k) {
      const ssize_t n = ::read(fd_, part, sizeof part);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (n <= 0) {
        fd_ = -1;  // all writers have closed it
        return;
      }
      const std::size_t count = static_cast<std::size_t>(n), kept = std::min(count, kept_output - text_.size());
      text_.append(part, kept);
      left_out_ = left_out_ || kept < count;
    }
  }
  std::string text() && {
    if (left_out_) text_ += "\n... (the rest is left out)\n";
    return std::move(text_);
  }

 private:
  int fd_;
  std::string text_;
  bool left_out_ = false;
};

/// Whether a child has ended; its status is left for waitpid.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == pid;
}

/// A descriptor that becomes readable when the process ends; none on old kernels.
int watch_of(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  (void)pid;
  return -1;
#endif
}

/// Reads the output until the process ends; false if its time limit passed first.
bool follow(pid_t pid, output_reader& output, long seconds) {
  constexpr int look_again_ms = 5;  // polling interval without a watch descriptor
  const unique_fd watch(watch_of(pid));
  const auto deadline = clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    long wait_ms = -1;
    if (seconds > 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
      wait_ms = std::max<long>(0, static_cast<long>(left));
    }
    if (!watch) wait_ms = wait_ms < 0 ? look_again_ms : std::min<long>(wait_ms, look_again_ms);
    pollfd both[2] = {{output.fd(), POLLIN, 0}, {watch.get(), POLLIN, 0}};
    ::poll(both, 2, static_cast<int>(wait_ms));
    if (both[0].revents != 0) output.read_some();
    if (has_ended(pid)) return true;
    if (seconds > 0 && clock::now() >= deadline) return false;
  }
}

}  // namespace

process_result run_process(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, long seconds) {
  process_result result;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return result;
  }
  const unique_fd from(ends[0]);
  unique_fd to(ends[1]);
  pid_t pid = 0;
  result.start_error = start(program, arguments, folder, to, pid);
  to = unique_fd();
  if (result.start_error != 0) return result;
  ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
  output_reader output(from.get());
  result.timed_out = !follow(pid, output, seconds);
  if (result.timed_out) ::kill(-pid, SIGKILL);
  output.read_some();
  result.output = std::move(output).text();
  int status = 0;
  pid_t got = 0;
  do got = ::waitpid(pid, &status, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) {
    result.exit_status = -1;
  } else if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_status = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace sinter::platform
