// .npy files: everything NumPy writes is read, what is read is written back to the byte, everything else is refused
// before memory is allocated; maps, streams, and files that are replaced.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "golden/golden.hpp"
#include "io/npy.hpp"
#include "runtime/backend.hpp"
#include "support/message_of.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using namespace sinter::idx;
using sinter_test::refuses;
using sinter_test::scratch_folder;

struct golden_case {
  std::string name, bytes, refusal;
  host_array expected;
  bool loads = false, same = false;
};

std::vector<golden_case> golden_cases() {
  golden_file f("npy.bin");
  std::vector<golden_case> all(static_cast<std::size_t>(f.cases()));
  for (golden_case& c : all) {
    c.name = f.text();
    c.bytes = f.text();
    c.loads = f.u8() == 0;
    if (c.loads) {
      c.expected = f.array();
      c.same = f.u8() != 0;
    } else {
      c.refusal = f.text();
    }
  }
  CHECK(f.at_end());
  return all;
}

void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

std::uint64_t allocations() { return runtime::get_backend(runtime::default_device()).statistics().allocations; }

std::string difference_from(const ndarray& x, const golden_case& c) {
  return difference(download(x), c.expected, {closeness::exact, 0, false});
}

const std::optional<dtype> as_bfloat16(const golden_case& c) {
  return c.expected.type == bfloat16 ? std::optional(bfloat16) : std::nullopt;
}

}  // namespace

TEST_CASE("every .npy file that NumPy writes is read from files and streams, and written back to the byte") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy", again = folder / "again.npy";
  int read = 0, written = 0;
  for (const golden_case& c : golden_cases()) {
    if (!c.loads) continue;
    CAPTURE(c.name);
    put(path, c.bytes);
    const ndarray x = load(path, {.dtype = as_bfloat16(c)});
    CHECK(difference_from(x, c) == "");
    std::istringstream stream(c.bytes);
    CHECK(difference_from(load(stream, {.dtype = as_bfloat16(c)}), c) == "");
    if (c.name != "bytes after the elements") CHECK(stream.peek() == std::char_traits<char>::eof());
    CHECK(difference_from(load(path, {.dtype = as_bfloat16(c), .device = cpu}), c) == "");
    ++read;
    if (!c.same) continue;
    save(again, x);
    CHECK(get(again) == c.bytes);
    std::ostringstream out;
    save(out, x);
    CHECK(out.str() == c.bytes);
    ++written;
  }
  CHECK(read == 73);
  CHECK(written == 54);
}

TEST_CASE("files that are damaged, cut short or hold no numbers are refused, and take no memory") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  (void)zeros({2}).to_vector<double>();  // the pool is there
  const auto before = allocations();
  int refused = 0;
  for (const golden_case& c : golden_cases()) {
    if (c.loads) continue;
    CAPTURE(c.name);
    put(path, c.bytes);
    refuses<io_error>([&] { load(path); }, c.refusal);
    refuses<io_error>([&] { load(path); }, "[load] '" + path + "'");
    refuses<io_error>([&] { load(path, {.mmap_mode = "r"}); }, c.refusal);
    std::istringstream stream(c.bytes);
    refuses<io_error>([&] { load(stream); }, "[load] the stream");
    ++refused;
  }
  CHECK(refused >= 45);
  CHECK(allocations() == before);
}

TEST_CASE("a header that promises more than there is costs no memory, from streams neither") {
  std::istringstream stream(io::npy_header_bytes(float64, {1 << 20, 1 << 20}, false) + "only a few bytes");
  const auto before = memory(default_device()).peak;
  refuses<io_error>([&] { load(stream); }, "ends after");
  CHECK(memory(default_device()).peak == before);
}

TEST_CASE("arrays of several chunks keep their elements, in either byte order") {
  const scratch_folder folder;
  const std::string path = folder / "large.npy";
  const ndarray x = reshape(arange(2'500'000, {.dtype = float64}) * 1.25 - 7.0, {2500, 1000});
  save(path, x);
  CHECK(array_equal(load(path), x));
  CHECK(array_equal(load(path, {.dtype = float32}), x.astype(float32)));
  std::string bytes = get(path);
  bytes.replace(bytes.find("<f8"), 1, ">");
  for (std::size_t at = 128; at + 8 <= bytes.size(); at += 8)
    std::reverse(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + 8));
  put(path, bytes);
  CHECK(array_equal(load(path), x));
  std::istringstream stream(bytes);
  CHECK(array_equal(load(stream), x));
}

TEST_CASE("save evaluates, keeps the order of the elements, and names files as NumPy") {
  const scratch_folder folder;
  const ndarray x = reshape(arange(6), {2, 3});
  save(folder / "bare", x + 1);
  CHECK(array_equal(load(folder / "bare.npy"), x + 1));
  CHECK_FALSE(exists(folder / "bare"));
  save(folder / "T.npy", x.T());
  CHECK(get(folder / "T.npy").find("'fortran_order': True") != std::string::npos);
  const ndarray back = load(folder / "T.npy");
  CHECK(array_equal(back, x.T()));
  CHECK(back.strides() == x.T().strides());
  save(folder / "view.npy", x(_, slice(_, _, -2)));
  CHECK(load(folder / "view.npy").to_vector<int>() == std::vector<int>{2, 0, 5, 3});
  save(folder / "repeated.npy", broadcast_to(array({1, 2}), {2, 2}));
  CHECK(load(folder / "repeated.npy").to_vector<int>() == std::vector<int>{1, 2, 1, 2});
  save(folder / "bf.npy", array({1.5, -2.0}, {.dtype = bfloat16}));
  CHECK(load(folder / "bf.npy", {.dtype = bfloat16}).to_vector<float>() == std::vector<float>{1.5f, -2.f});
  refuses<io_error>([&] { load(folder / "bf.npy"); }, "say {.dtype = bfloat16}");
  CHECK_THROWS_AS(save(folder / "none.npy", ndarray()), value_error);
  CHECK_FALSE(exists(folder / "none.npy"));
}

TEST_CASE("several arrays in one stream are read one after the other") {
  std::stringstream stream;
  save(stream, arange(3));
  save(stream, zeros({2, 2}, float32));
  save(stream, array(7));
  CHECK(load(stream).to_vector<int>() == std::vector<int>{0, 1, 2});
  CHECK(load(stream).shape() == shape_t{2, 2});
  CHECK(load(stream).item<int>() == 7);
  CHECK_THROWS_AS(load(stream), io_error);
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  refuses<io_error>([&] { save(full, arange(3)); }, "takes no more");
}

TEST_CASE("a file is replaced when the new one is complete, and what cannot be written leaves the old one") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  save(path, arange(3));
  ::chmod(path.c_str(), 0640);
  save(path, arange(4));
  CHECK(load(path).size() == 4);
  struct stat about {};
  CHECK(::stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0640);
  std::filesystem::create_symlink("x.npy", folder / "link.npy");
  save(folder / "link.npy", arange(5));
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(load(path).size() == 5);
  refuses<io_error>([&] { save(folder / "no folder/x.npy", arange(3)); }, "cannot be written");
  refuses<index_error>([&] { save(path, array({1, 2})[array({5})]); }, "index 5 is out of range");
  CHECK(load(path).size() == 5);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("what is no regular file is named as such") {
  const scratch_folder folder;
  refuses<io_error>([&] { load(folder / "missing.npy"); }, "cannot be opened");
  refuses<io_error>([&] { load(folder.path().string()); }, "is no regular file");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  refuses<io_error>([&] { load(folder / "pipe"); }, "is no regular file");
}

TEST_CASE("a map for reading copies nothing, refuses writes, and its copies are arrays of their own") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  const ndarray whole = reshape(arange(600, {.dtype = float64, .device = cpu}), {20, 30});
  save(path, whole);
  const std::string bytes = get(path);
  for (const bool fortran : {false, true}) {
    if (fortran) save(path, whole.T());
    const std::string before = get(path);
    const ndarray expected = fortran ? whole.T() : whole;
    const auto allocated = runtime::get_backend({}).statistics().allocations;
    const ndarray x = load(path, {.mmap_mode = "r"});
    CHECK(runtime::get_backend({}).statistics().allocations == allocated);
    CHECK(x.device() == cpu);
    CHECK(x.shape() == expected.shape());
    CHECK(x.strides() == expected.strides());
    CHECK(array_equal(x, expected));
    CHECK(array_equal(x(3) * 2 + 1, expected(3) * 2 + 1));
    if (!fortran) CHECK(x.host<double>().data() == x.host<double>().data());
    refuses<value_error>([&] { x(0) = 5; }, "read-only");
    refuses<value_error>([&] { x(slice(_, _, 2))(_) += 1; }, "read-only");
    ndarray y = x.copy();
    y(0) = -1.0;
    y += 1;
    CHECK(y(0, 0).item<double>() == 0.0);
    ndarray z = x * 1;
    ndarray lent = load(path, {.mmap_mode = "r"}).copy();  // the map has no other user
    lent(1) = -5.0;
    eval(lent, y, z);
    *x.copy().data<double>() = 77;
    CHECK(array_equal(x, expected));
    CHECK(get(path) == before);
  }
}

TEST_CASE("elements of a map live as long as anything that refers to them, and a new file does not change them") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  save(path, arange(5000, {.dtype = float32, .device = cpu}));
  ndarray sum_later;
  {
    const ndarray x = load(path, {.mmap_mode = "r"});
    sum_later = sum(x(slice(10, _)) + 1);
    save(path, x * 0);
    CHECK(x(4999).item<float>() == 4999.f);
  }
  std::filesystem::remove(path);
  CHECK(sum_later.item<double>() == doctest::Approx(4999.0 * 5000 / 2 - 45 + 4990));
}

TEST_CASE("a private map can be written, and the file stays") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  save(path, arange(4, {.device = cpu}));
  const std::string before = get(path);
  ndarray x = load(path, {.mmap_mode = "c"});
  x(1) = 50;
  x += 1;
  CHECK(x.to_vector<int>() == std::vector<int>{1, 51, 3, 4});
  CHECK(get(path) == before);
}

TEST_CASE("a shared map writes to the file and sees what others write") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  save(path, reshape(arange(6, {.device = cpu}), {2, 3}));
  ndarray x = load(path, {.mmap_mode = "r+"});
  x(1) = 50;
  x(_, 0) += 1;
  CHECK(load(path, {.device = cpu}).to_vector<int>() == std::vector<int>{1, 1, 2, 51, 50, 50});
  const ndarray before = x + 0;
  ndarray other = load(path, {.mmap_mode = "r+"});
  other(0) = 9;
  CHECK(x.to_vector<int>() == std::vector<int>{9, 9, 9, 51, 50, 50});
  CHECK(before.to_vector<int>() == std::vector<int>{1, 1, 2, 51, 50, 50});
}

TEST_CASE("what cannot be mapped says why") {
  const scratch_folder folder;
  const std::string path = folder / "x.npy";
  save(path, arange(4));
  refuses<value_error>([&] { load(path, {.mmap_mode = "w"}); }, "'w'; r, r+ and c");
  refuses<value_error>([&] { load(path, {.mmap_mode = "r", .device = cuda()}); }, "to_device");
  std::ifstream stream(path, std::ios::binary);
  refuses<value_error>([&] { load(stream, {.mmap_mode = "r"}); }, "cannot be mapped");
  std::string bytes = get(path);
  bytes.replace(bytes.find("<i8"), 1, ">");
  put(path, bytes);
  refuses<io_error>([&] { load(path, {.mmap_mode = "r"}); }, "big-endian");
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }";
  put(path, std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + "12345678");
  CHECK(load(path).size() == 1);
  refuses<io_error>([&] { load(path, {.mmap_mode = "r"}); }, "begin at byte 67");
  put(path, io::npy_header_bytes(bool_, {2}, false) + "\1\2");
  refuses<io_error>([&] { load(path, {.mmap_mode = "r"}); }, "neither 0 nor 1");
  save(path, zeros({0, 3}));
  CHECK(load(path, {.mmap_mode = "r"}).shape() == shape_t{0, 3});
}
