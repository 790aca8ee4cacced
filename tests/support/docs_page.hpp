// The code blocks of a page of the documentation, and whether a test contains them.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace sinter_test {

inline std::string whole_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Text without spaces and line breaks.
inline std::string packed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out;
}

/// Code without layout and comments.
inline std::string bare_code(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    for (const char c : line.substr(0, line.find("  //")))
      if (c != ' ') out += c;
  return out;
}

/// The text between ```cpp and ```.
inline std::vector<std::string> code_blocks(const std::string& page) {
  std::vector<std::string> blocks;
  for (std::size_t at = page.find("```cpp\n"); at != std::string::npos; at = page.find("```cpp\n", at)) {
    const std::size_t end = page.find("\n```", at);
    blocks.push_back(page.substr(at + 7, end - at - 7));
    at = end;
  }
  return blocks;
}

/// Checks that every code block of docs/`page` is part of tests/`test`.
inline void check_page(const std::string& page, const std::string& test, std::size_t blocks) {
  const std::string here = bare_code(whole_file(SINTER_SOURCE_DIR "/tests/" + test));
  const auto found = code_blocks(whole_file(SINTER_SOURCE_DIR "/docs/" + page));
  CHECK(found.size() == blocks);
  for (const std::string& block : found) CHECK_MESSAGE(here.find(bare_code(block)) != std::string::npos, block);
}

/// While it lives, what is printed to std::cout is kept here.
struct printed {
  std::ostringstream text;
  std::streambuf* before = std::cout.rdbuf(text.rdbuf());
  ~printed() { std::cout.rdbuf(before); }
};

}  // namespace sinter_test
