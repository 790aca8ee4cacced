// Modules of raw kernels, as far as they need no GPU: names, variables, files, what is shared.
#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <string>

#include "support/raw_fake.hpp"
#include "support/scratch_folder.hpp"

using namespace raw_test;
using namespace sn::idx;

TEST_CASE("raw kernel: kernels of the same text and options share one module, modules do not") {
  fake f;
  f.add("k", [](const runtime::raw_launch&, void**) {});
  const sn::launch how{.grid = 1, .block = 1};
  const char* source = "__global__ void k() {} // shared by this test alone";
  for (int i = 0; i < 3; ++i) sn::raw_kernel(source, "k")(how);
  CHECK(f.loaded == 1);
  sn::raw_kernel(source, "k", {.options = {"-DA"}})(how);
  CHECK(f.loaded == 2);
  sn::raw_kernel(source, "k", {.fast_math = true})(how);
  CHECK(f.loaded == 3);
  const sn::raw_module a(source), b(source), c = a;
  a.get("k")(how);
  b.get("k")(how);
  c.get("k")(how);
  CHECK(f.loaded == 5);
}

TEST_CASE("raw kernel: names of kernels are found as users write them") {
  fake f;
  for (const char* name : {"_Z5scaleIfEvPT_", "_ZN2my5shiftEPd", "_Z10overloadedPf", "_Z10overloadedPi", "plain"})
    f.add(name, [](const runtime::raw_launch&, void**) {});
  f.lowered = {{"scale< float >", "_Z5scaleIfEvPT_"}};
  const sn::raw_module m("");
  const sn::launch how{.grid = 1, .block = 1};
  const ndarray x = floats({1}), d = x.astype(sn::float64);
  m.get("scale<float>")(how, x);
  m.get("&scale< float>")(how, x);
  m.get("scale")(how, x);
  m.get("my::shift")(how, d);
  m.get("::my::shift")(how, d);
  m.get("_ZN2my5shiftEPd")(how, d);
  m.get("_Z10overloadedPf")(how, x);
  m.get("plain")(how);
  CHECK_THROWS_AS(m.get("my::shift")(how, x), sn::dtype_error);
  const auto message = [&](const char* name) { return message_of<sn::value_error>([&] { m.get(name)(how); }); };
  CHECK(
      message("overloaded").find("[overloaded] the name fits several kernels: overloaded(float*), overloaded(int*)") ==
      0);
  CHECK(message("shift").find("[shift] the module has no kernel of this name; kernels: overloaded(float*)") == 0);
  CHECK(message("scale<double>").find("a template must be listed in raw_kw::names to be compiled") !=
        std::string::npos);
}

TEST_CASE("raw module: variables are read and written whole") {
  fake f;
  f.variables["_ZN2my5tableE"] = list(4);
  f.variables["pair"] = list(2);
  const sn::raw_module m("");
  m.set_global("my::table", list{1, 2, 3, 4});
  CHECK(m.get_global<float>("my::table") == list{1, 2, 3, 4});
  m.set_global("my::table", sn::reshape(ramp(8), {4, 2})(_, 1));
  CHECK(m.get_global<float>("my::table") == list{1, 3, 5, 7});
  struct point {
    float x, y;
  };
  m.set_global("pair", point{8, 9});
  CHECK(m.get_global<point>("pair")[0].y == 9);
  const float raw[2] = {1, 2};
  m.set_global("pair", raw);
  CHECK(m.get_global<float>("pair") == list{1, 2});
  CHECK(m.get_global<unsigned char>("pair").size() == 8);
  m.set_global("pair", std::array{true, false, true, true, false, false, false, true});
  CHECK(m.get_global<bool>("pair") == std::vector<bool>{true, false, true, true, false, false, false, true});
  const auto message = [](auto&& call) { return message_of<sn::value_error>(call); };
  CHECK(message([&] { m.set_global("pair", list{1, 2, 3}); }) == "[pair] the variable has 8 bytes, the value 12");
  CHECK(message([&] { m.set_global("pair", floats({1})); }) == "[pair] the variable has 8 bytes, the value 4");
  CHECK(message([&] { (void)m.get_global<std::array<char, 3>>("pair"); }).find("no multiple of the 3") !=
        std::string::npos);
  CHECK(message([&] { m.set_global("nothing", 1.0f); }) ==
        "[nothing] the module has no variable of this name; variables: my::table, pair");
}

TEST_CASE("raw module: files and images that are none") {
  const sinter_test::scratch_folder scratch;
  const std::string missing = scratch / "missing.cu";
  CHECK(message_of<sn::io_error>([&] { sn::raw_module::from_file(missing); }) ==
        "[from_file] cannot read '" + missing + "'");
  CHECK_THROWS_AS(sn::raw_module::from_file(scratch.path().string()), sn::io_error);
  const std::string ptx = scratch / "k.ptx";
  std::ofstream(ptx) << ".version 8.0\n.target sm_75\n.address_size 64\n";
  CHECK(sn::raw_module::from_file(ptx).defined());
  CHECK(message_of<sn::value_error>([&] {
          sn::raw_module::from_file(ptx, {.options = {"-DN"}});
        }).find("compiled already") != std::string::npos);
  const std::byte junk[5] = {};
  CHECK(message_of<sn::value_error>([&] { sn::raw_module::from_binary(junk); }) ==
        "[from_binary] 5 bytes that are no cubin, fatbin or PTX");
}
