// Prints the table of lines: the first call, a call among many, and NumPy's line beside them. lines.py prints the same
// lines in other libraries, and puts this table beside them.
#include "lines.hpp"

#include <exception>
#include <map>
#include <string>

#include "jit/compile_steps.hpp"

namespace bench {
namespace {

/// A line that takes seconds is not repeated: its first call and one more say enough.
double seconds_once_warm(const recorded_line& record, double first) {
  const auto call = [&] { eval_together(record()); };
  if (first < 3) return steady_seconds(call, 5);
  return seconds_of([&] {
    call();
    sn::synchronize();
  });
}

/// The host's time of a call. Few at a time: the queue of a GPU is finite, and a call waits where it is full.
double host_seconds(const recorded_line& record) {
  constexpr int calls = 200;
  std::vector<double> seconds;
  for (int round = 0; round < 15; ++round) {
    sn::synchronize();
    seconds.push_back(seconds_of([&] {
                        for (int k = 0; k < calls; ++k) eval_together(record());
                      }) /
                      calls);
    sn::platform::wait_for_background();
  }
  return median(seconds);
}

/// "for a in b:\n  c\n  d" and "e\nf" on one line.
std::string on_one_line(const char* text) {
  std::string out;
  for (; *text != 0; ++text) {
    if (*text != '\n') {
      out += *text;
      continue;
    }
    out += out.ends_with(':') ? " " : "; ";
    while (text[1] == ' ') ++text;
  }
  return out;
}

void print_line(const line& l, const sizes& s, double goal) {
  std::printf("| %s | ", l.name);
  std::fflush(stdout);
  try {
    const recorded_line record = l.prepare(s);
    sn::synchronize();
    results last;
    const double first = seconds_of([&] {
      last = record();
      eval_together(last);
      sn::synchronize();
    });
    const double sum = sum_of_magnitudes(last);
    last.clear();
    const double seconds = l.host ? host_seconds(record) : seconds_once_warm(record, first);
    char bound[32] = "";
    if (goal > 0) std::snprintf(bound, sizeof bound, "%g", goal);
    std::printf("%.2f | %.4f | %s | %.6g | ", 1e3 * first, 1e3 * seconds, bound, sum);
  } catch (const std::exception& e) {
    const std::string text = e.what();
    std::printf("%s | | | | ", text.substr(0, text.find('\n')).c_str());
  }
  std::printf("%s |\n", on_one_line(l.numpy).c_str());
  std::fflush(stdout);
}

/// Milliseconds of one kind of step: from its first beginning to its last end, and the sum of what its kernels took.
struct step_times {
  int count = 0;
  double begin = 0, end = 0, cpu = 0;
  void add(const sn::jit::compile_step& s) {
    begin = count++ == 0 ? s.begin : std::min(begin, s.begin);
    end = std::max(end, s.end);
    cpu += s.cpu;
  }
};

/// "3 kernels: compile 95.1 (running 180.2), load 1.2 (1.2); elsewhere 12.0": the flushes of a call one after the other.
void print_parts(double first) {
  std::map<std::string, step_times> total;
  double found = 0;
  for (const auto& s : sn::jit::recorded_compile_steps()) {
    if (s.what == "find") found += s.end - s.begin;
    else total[s.what].add(s);
  }
  std::printf("%d kernels in %.1f", total["load"].count, 1e3 * found);
  for (const char* what : {"look on disk", "generate", "compile", "store on disk", "load"})
    if (total[what].count > 0)
      std::printf(", %s %.1f (running %.1f)", what, 1e3 * (total[what].end - total[what].begin), 1e3 * total[what].cpu);
  std::printf("; the rest %.1f", 1e3 * (first - found));
}

void print_first_call(const line& l, const sizes& s) {
  const recorded_line record = l.prepare(s);
  sn::synchronize();
  sn::platform::wait_for_background();
  sn::jit::record_compile_steps(true);
  const double first = seconds_of([&] {
    eval_together(record());
    sn::synchronize();
  });
  std::printf("%.1f | ", 1e3 * first);
  print_parts(first);
  sn::jit::record_compile_steps(false);
  std::printf(" | %.4f |\n", 1e3 * seconds_of([&] {
                               eval_together(record());
                               sn::synchronize();
                             }));
}

}  // namespace

namespace {

template <class F>
void for_each_line(const std::string& only, F f) {
  for (const auto* table : {&lines(), &everyday_lines(), &further_lines()})
    for (const line& l : *table)
      if (std::string(l.name).find(only) != std::string::npos) f(l);
}

}  // namespace

void first_call_rows(bool small, const std::string& only) {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  std::printf(
      "| work | first, ms | of it finding kernels, by step | the next call, ms |\n| --- | ---: | --- | ---: |\n");
  for_each_line(only, [&](const line& l) {
    std::printf("| %s | ", l.name);
    print_first_call(l, small ? l.small : gpu ? l.on_gpu : l.on_cpu);
    std::fflush(stdout);
    sn::memory_pool().trim();
  });
}

double sum_of_magnitudes(const std::vector<ndarray>& list) {
  double sum = 0;
  for (const ndarray& a : list) {
    const auto size = sn::abs(a).astype(sn::float64);
    sum += sn::sum(sn::where(sn::isfinite(size), size, 0)).item<double>();
  }
  return sum;
}

void line_rows(bool small, const std::string& only) {
  const auto device = sn::default_device();
  const bool gpu = device.kind == sn::device_kind::cuda;
  std::printf("%s, %s\n\n", sn::to_string(device).c_str(), sn::description(device).c_str());
  std::printf("| work | first, ms | ms | goal, ms | sum | NumPy's line |\n| --- | ---: | ---: | ---: | ---: | --- |\n");
  const double begin = now();
  for_each_line(only, [&](const line& l) {
    const sizes& s = small ? l.small : gpu ? l.on_gpu : l.on_cpu;
    print_line(l, s, small ? 0 : gpu ? l.gpu_goal : l.cpu_goal);
    sn::memory_pool().trim();
  });
  std::printf("\nThese lines took %.1f s.", now() - begin);
  if (gpu) std::printf(" A bare launch takes the host %.2f us.", 1e6 * bare_launch_seconds());
  std::printf("\n");
}

}  // namespace bench
