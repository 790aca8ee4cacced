// Files, private folders, processes without a shell and identities, for the compilers and the cache.
#include "compile_util.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include "compile.hpp"

extern char** environ;

namespace sinter::jit {

unique_fd::~unique_fd() {
  if (fd_ >= 0) ::close(fd_);
}

bool write_all(int fd, const void* data, std::size_t bytes) noexcept {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t n = ::write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return false;
    p += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::vector<char>> read_all(int fd) {
  struct stat st {};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  std::vector<char> bytes(static_cast<std::size_t>(st.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

std::optional<std::vector<char>> read_file(const std::string& path) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  return read_all(fd.get());
}

bool write_file(const std::string& path, std::string_view bytes) noexcept {
  const unique_fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return fd && write_all(fd.get(), bytes.data(), bytes.size());
}

std::string errno_text(int code) { return std::generic_category().message(code); }

std::string unique_suffix() {
  static std::atomic<unsigned> count{0};
  static const unsigned random = std::random_device{}();
  char text[64];
  std::snprintf(text, sizeof text, "%ld-%u-%08x", static_cast<long>(::getpid()), count.fetch_add(1), random);
  return text;
}

private_folder::private_folder() {
  std::string base = environment("TMPDIR");
  if (base.empty() || base[0] != '/') base = "/tmp";
  std::string pattern = base + "/sinter-XXXXXX";
  if (::mkdtemp(pattern.data()) != nullptr) {
    path_ = std::move(pattern);
  } else {
    errno_ = errno;
  }
}

private_folder::~private_folder() {
  if (path_.empty()) return;
  // Only plain files are ever put here: one level is enough, and a link is removed, not followed.
  if (DIR* dir = ::opendir(path_.c_str())) {
    while (const dirent* entry = ::readdir(dir)) ::unlinkat(::dirfd(dir), entry->d_name, 0);
    ::closedir(dir);
  }
  ::rmdir(path_.c_str());
}

namespace {

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

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The compiler must not inherit a mask or ignored signals that would break its own pipes and children.
void reset_signals(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGCHLD, SIGXFSZ}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

process_result run_process(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, const std::string& log) {
  std::vector<std::string> argument_texts{program};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_texts = child_environment(folder);
  const std::vector<char*> argv = pointers(argument_texts);
  const std::vector<char*> envp = pointers(environment_texts);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  reset_signals(attributes);

  process_result result;
  pid_t pid = 0;
  result.start_error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (result.start_error == 0) result.exit_status = wait_for(pid);
  return result;
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> text(::realpath(path.c_str(), nullptr), &std::free);
  return text ? text.get() : "";
}

std::string file_identity(const std::string& path) {
  const std::string real = real_path(path);
  struct stat st {};
  if (real.empty() || ::stat(real.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  char figures[96];
  std::snprintf(figures, sizeof figures, "|%lld|%lld.%09ld", static_cast<long long>(st.st_size),
                static_cast<long long>(st.st_mtim.tv_sec), static_cast<long>(st.st_mtim.tv_nsec));
  return real + figures;
}

namespace {

#if defined(__x86_64__) || defined(__i386__)
// Leaf 1's ebx is left out: it names the core that happens to run.
std::string read_cpu_features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  std::string text = "x86";
  char part[48];
  const auto add = [&](unsigned w, unsigned x, unsigned y, unsigned z) {
    std::snprintf(part, sizeof part, "-%x.%x.%x.%x", w, x, y, z);
    text += part;
  };
  if (__get_cpuid(0, &a, &b, &c, &d)) add(0, b, c, d);
  bool extended_state = false;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    add(a, 0, c, d);
    extended_state = (c & (1U << 27)) != 0;
  }
  for (unsigned leaf = 0; leaf < 2; ++leaf) {
    if (__get_cpuid_count(7, leaf, &a, &b, &c, &d)) add(leaf == 0 ? 0 : a, b, c, d);
  }
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d)) add(0, 0, c, d);
  if (extended_state) {  // which registers the operating system saves: without them a feature bit is worth nothing
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    add(low, high, 0, 0);
  }
  return text;
}
#else
std::string read_cpu_features() {
  utsname machine{};
  ::uname(&machine);
  return std::string(machine.machine) + "-" + std::to_string(::getauxval(AT_HWCAP)) + "-" +
         std::to_string(::getauxval(AT_HWCAP2));
}
#endif

}  // namespace

const std::string& cpu_features() {
  static const std::string& text = *new std::string(read_cpu_features());
  return text;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void append_field(std::string& key, std::string_view field) {
  key += std::to_string(field.size());
  key += ':';
  key += field;
}

std::string number_lines(std::string_view source) {
  std::string text;
  int number = 0;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    char prefix[24];
    std::snprintf(prefix, sizeof prefix, "%4d  ", ++number);
    text += prefix;
    text += source.substr(0, end);
    text += '\n';
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return text;
}

}  // namespace sinter::jit
