// What the examples' main functions share: the device, checks that are printed, where pictures go.
#pragma once
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "common/command_line.hpp"
#include "common/verdict.hpp"
#include "sinter/device.hpp"

namespace examples {

/// Makes a device the default one (an empty name: leaves it), and prints which it is.
inline sinter::device use_device(const std::string& name) {
  if (!name.empty()) sinter::set_default_device(sinter::device(name));
  const sinter::device on = sinter::default_device();
  std::printf("%-12s %s, %s\n", "device", sinter::to_string(on).c_str(), sinter::description(on).c_str());
  return on;
}

/// Prints a check; throws std::runtime_error unless it holds.
inline void report(const verdict& v, const std::string& what) {
  std::printf("%-12s %s: %s\n", "check", what.c_str(), to_string(v).c_str());
  require(v, what);
}

/// Draws a picture of this file name in a folder, which is made, and prints its path; an empty folder: nothing.
inline void draw_in(const std::string& folder, const std::string& file,
                    const std::function<void(const std::string& path)>& draw) {
  if (folder.empty()) return;
  std::error_code ignored;  // write_png says what cannot be written
  std::filesystem::create_directories(folder, ignored);
  const std::string path = (std::filesystem::path(folder) / file).string();
  draw(path);
  std::printf("%-12s %s\n", "picture", path.c_str());
}

/// The main function of a program that has options with a member `help`.
template <class Parse, class Run>
int run_program(const char* name, int count, const char* const* words, Parse&& parse, const std::string& help,
                Run&& run) {
  return run_program(name, [&] {
    const auto o = parse(count, words);
    if (o.help) std::fputs(help.c_str(), stdout);
    else run(o);
  });
}

}  // namespace examples
