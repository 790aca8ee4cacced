// .npz archives: NumPy's are read, those of the library are read back, damaged ones are refused before memory is
// allocated.
#include <doctest/doctest.h>

#include <fstream>

#include "golden/golden.hpp"
#include "runtime/backend.hpp"
#include "support/message_of.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using sinter_test::refuses;
using sinter_test::scratch_folder;

void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Where the library was built without libzip, or it cannot be loaded, that is all there is to test.
bool no_libzip() {
  const scratch_folder folder;
  try {
    savez(folder / "probe.npz", {arange(1)});
    return false;
  } catch (const io_error& e) {
    const std::string text = e.what();
    CHECK(text.find("libzip") != std::string::npos);
    MESSAGE("skipped: ", text);
    return true;
  }
}

void load_all(const std::string& path) {
  const npz_file f = load_npz(path);
  for (const std::string& n : f.names()) f[n];
}

}  // namespace

TEST_CASE("archives that NumPy writes are read, damaged ones refused without taking memory") {
  if (no_libzip()) return;
  const scratch_folder folder;
  const std::string path = folder / "x.npz";
  golden_file f("npz.bin");
  int refused = 0;
  for (int i = 0; i < f.cases(); ++i) {
    const std::string name = f.text();
    CAPTURE(name);
    put(path, f.text());
    if (f.u8() == 0) {
      const npz_file archive = load_npz(path);
      const auto count = static_cast<std::size_t>(f.varint());
      CHECK(archive.names().size() == count);
      for (std::size_t k = 0; k < count; ++k) {
        const std::string key = f.text();
        const host_array expected = f.array();
        CHECK(archive.names()[k] == key);
        CHECK(archive.contains(key));
        CHECK(difference(download(archive[key]), expected, {closeness::exact, 0, false}) == "");
      }
      continue;
    }
    const std::string says = f.text();
    const auto peak = memory(default_device()).peak;
    refuses<io_error>([&] { load_all(path); }, says);
    refuses<io_error>([&] { load_all(path); }, "[load_npz] '" + path + "'");
    CHECK(memory(default_device()).peak <= peak + (1 << 20));
    ++refused;
  }
  CHECK(f.at_end());
  CHECK(refused >= 11);
}

TEST_CASE("an archive gives back what was written, stored or deflated") {
  if (no_libzip()) return;
  const scratch_folder folder;
  std::vector<npz_entry> arrays;
  for (int t = 0; t < dtype_count; ++t) {
    const auto type = static_cast<dtype>(t);
    if (type == bfloat16) continue;
    arrays.push_back({std::string(name(type)), reshape(arange(4000, {.dtype = int64}) % 100, {40, 100}).astype(type)});
  }
  arrays.push_back({"pending", sin(arange(10)) + 1});
  arrays.push_back({"T", reshape(arange(6), {2, 3}).T()});
  arrays.push_back({"0-d", array(2.5)});
  arrays.push_back({"empty", zeros({0, 4})});
  arrays.push_back({"Ümlaut/sub folder", array({1})});
  savez(folder / "stored", arrays);
  savez_compressed(folder / "deflated.npz", arrays);
  for (const char* file : {"stored.npz", "deflated.npz"}) {
    CAPTURE(file);
    const npz_file back = load_npz(folder / file);
    REQUIRE(back.names().size() == arrays.size());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      CHECK(back.names()[k] == arrays[k].name);
      const ndarray x = back[arrays[k].name];
      CHECK(x.dtype() == arrays[k].array.dtype());
      CHECK(array_equal(x, arrays[k].array));
    }
    CHECK(back["T"].strides() == std::vector<std::int64_t>{8, 24});
  }
  CHECK(get(folder / "deflated.npz").size() * 4 < get(folder / "stored.npz").size());
  const std::string before = get(folder / "stored.npz");
  savez(folder / "stored.npz", arrays);
  CHECK(get(folder / "stored.npz") == before);
}

TEST_CASE("names of archives: numbered, given, refused") {
  if (no_libzip()) return;
  const scratch_folder folder;
  const std::string path = folder / "x.npz";
  savez(path, {arange(2), arange(3)});
  CHECK(load_npz(path).names() == std::vector<std::string>{"arr_0", "arr_1"});
  savez(path, {{"a", arange(2)}, {"b", arange(3)}});
  npz_file f = load_npz(path);
  CHECK(f.names() == std::vector<std::string>{"a", "b"});
  CHECK(f["b"].size() == 3);
  CHECK(f.load("b", {.dtype = float32}).dtype() == float32);
  CHECK_FALSE(f.contains("c"));
  refuses<index_error>([&] { f["c"]; }, "member 'c' is not there; there are 2: a, b");
  refuses<value_error>([&] { f.load("a", {.mmap_mode = "r"}); }, "cannot be mapped");
  refuses<value_error>([&] { savez(path, {{"a", arange(2)}, {"a", arange(3)}}); }, "'a' is there twice");
  refuses<value_error>([&] { savez(path, {{"", arange(2)}}); }, "must have characters");
  CHECK(load_npz(path).names().size() == 2);
  savez(path, std::vector<npz_entry>());
  CHECK(load_npz(path).names().empty());
  CHECK(f["a"].size() == 2);  // what is open stays open
  refuses<io_error>([&] { savez(folder / "no folder/x.npz", {arange(2)}); }, "cannot be written");
  refuses<io_error>([&] { load_npz(folder / "missing.npz"); }, "cannot be opened");
  refuses<io_error>([&] { npz_file()["a"]; }, "no archive is open");
}

TEST_CASE("an archive of more than 65535 members has its directory in the zip64 form") {
  if (no_libzip()) return;
  const scratch_folder folder;
  const std::string path = folder / "many.npz";
  const int count = 66000;
  const ndarray one = array({7}, {.dtype = int8, .device = cpu});
  eval(one);
  savez(path, std::vector<ndarray>(count, one));
  const std::string bytes = get(path);
  CHECK(bytes.rfind("PK\6\6") != std::string::npos);
  const npz_file f = load_npz(path);
  CHECK(f.names().size() == count);
  CHECK(f["arr_65999"].item<int>() == 7);
}
