// The library's report on itself: its libraries, where a missing one was looked for.
#include <doctest/doctest.h>

#include <algorithm>

#include "info/library_report.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

using namespace sinter;

TEST_CASE("the version has three numbers and is in the report") {
  const std::string v(version());
  CHECK(std::count(v.begin(), v.end(), '.') == 2);
  CHECK(show_config().rfind("sinter " + v + "\n", 0) == 0);
}

TEST_CASE("a library that is missing is reported with every place and what the dynamic linker said") {
  const sinter_test::scratch_folder folder;
  platform::library_place place{
      "Nothing", {"libsinter-nothing.so.7"}, {folder.path().string(), "/usr/lib"}, "install nothing"};
  const info::library_state state = info::look_for(place);
  CHECK(state.title == "Nothing");
  CHECK(state.soname == "libsinter-nothing.so.7");
  CHECK(state.path.empty());
  CHECK(state.problem.find(folder.path().string()) != std::string::npos);
  CHECK(state.problem.find("/usr/lib,") != std::string::npos);
  CHECK(state.problem.find("cannot open shared object file") != std::string::npos);
  CHECK(state.problem.find("install nothing") != std::string::npos);
}

TEST_CASE("a library that is there is reported with its path") {
  const info::library_state state = info::look_for({"C", {"libc.so.6"}, {}, "install a system"});
  CHECK(state.problem.empty());
  CHECK(state.soname == "libc.so.6");
  CHECK(state.path.rfind('/', 0) == 0);
  CHECK(state.path.find("libc.so.6") != std::string::npos);
}

TEST_CASE("a file of the right name that is no library is told as such") {
  const sinter_test::scratch_folder folder;
  platform::write_file(folder / "libsinter-false.so.1", "no library");
  const info::library_state state =
      info::look_for({"False", {"libsinter-false.so.1"}, {folder.path().string()}, "remove it"});
  CHECK(state.path.empty());
  CHECK(state.problem.find((folder / "libsinter-false.so.1") + ": file too short") != std::string::npos);
}
