// Readers of files against a million damaged ones: a reader gives an array that the file has room for, or throws
// io_error; it never reads past the end and never allocates memory for data that is not there. SINTER_FUZZ_FILE=1234
// replays one mutation in each case.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <optional>
#include <sstream>

#include "fuzz/mutation.hpp"
#include "golden/golden.hpp"
#include "io/npy.hpp"
#include "io/zip_reader.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

thread_local bool watching = false;
thread_local std::size_t largest = 0;

}  // namespace

#ifndef __SANITIZE_ADDRESS__
// The largest request for memory of a reader is recorded here. Sanitizers have their own allocators.
void* operator new(std::size_t bytes) {
  if (watching && bytes > largest) largest = bytes;
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

std::optional<std::uint64_t> wanted_mutation() {
  const char* text = std::getenv("SINTER_FUZZ_FILE");
  return text && *text ? std::optional<std::uint64_t>(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

/// The files of a golden file that has name, bytes, and either what `skip_result` goes over or the text of a refusal.
template <class F>
std::vector<std::string> files_of(const char* golden, F&& skip_result) {
  golden_file f(golden);
  std::vector<std::string> all;
  for (int i = 0; i < f.cases(); ++i) {
    f.text();
    all.push_back(f.text());
    if (f.u8() == 0) skip_result(f);
    else f.text();
  }
  std::erase_if(all, [](const std::string& s) { return s.empty() || s.size() > 4096; });
  return all;
}

struct tally {
  long long read = 0, refused = 0;
};

/// Calls read(bytes) for mutations of the seeds; it gives a complaint or nothing, or throws io_error.
template <class F>
tally fuzz_reader(const std::vector<std::string>& seeds, const std::vector<std::string>& words, std::uint64_t count,
                  F&& read) {
  fuzz::guarded_memory memory(1 << 16);
  tally t;
  // What a device or a table allocates once, at its first use, is not counted below.
  for (const std::string& seed : seeds) try {
      (void)read(memory.hold(seed));
    } catch (const io_error&) {
    }
  for (std::uint64_t n = 0; n < count; ++n) {
    if (wanted_mutation() ? n != *wanted_mutation() : !this_shard().takes(static_cast<long long>(n))) continue;
    const std::string bytes = fuzz::mutated(seeds, words, n);
    const std::span<const std::byte> input = memory.hold(bytes);
    std::string complaint;
    largest = 0;
    watching = true;
    try {
      complaint = read(input);
      ++t.read;
    } catch (const io_error&) {
      ++t.refused;
    } catch (const std::exception& e) {
      complaint = std::string("threw something else: ") + e.what();
    }
    watching = false;
    // Messages, headers and elements are bounded by what the file has.
    if (complaint.empty() && largest > 8 * bytes.size() + 8192)
      complaint = "asked for " + std::to_string(largest) + " bytes at once";
    if (!complaint.empty()) FAIL_CHECK("SINTER_FUZZ_FILE=", n, " of ", bytes.size(), " bytes ", complaint);
  }
  return t;
}

/// How often this shard's part of `count` mutations must have been read, or refused.
long long least(std::uint64_t count, int one_in) {
  return wanted_mutation() ? 0 : static_cast<long long>(count) / this_shard().count / one_in;
}

std::string read_npy_elements(std::span<const std::byte> bytes) {
  io::memory_source from(bytes, "[fuzz]");
  const io::npy_header h = io::read_npy_header(from, bfloat16);
  std::uint64_t n = 1;
  for (const std::int64_t d : h.shape) {
    if (d < 0) return "has a negative extent";
    n *= static_cast<std::uint64_t>(d);
  }
  if (h.shape.size() > core::max_rank) return "has too many axes";
  if (h.bytes != n * itemsize(h.type)) return "has sizes that do not fit";
  if (h.offset != from.position() || h.offset + h.bytes > bytes.size()) return "has elements after its end";
  std::vector<std::byte> elements(h.bytes);
  from.read(elements.data(), elements.size());
  io::normalise_elements(elements.data(), elements.size(), h);
  if (h.type == bool_)
    for (const std::byte b : elements)
      if (b > std::byte{1}) return "has a bool that is neither 0 nor 1";
  return "";
}

const std::vector<std::string> npy_words = {"\x93NUMPY",
                                            "'descr'",
                                            "'fortran_order'",
                                            "'shape'",
                                            "True",
                                            "False",
                                            "(",
                                            ")",
                                            ",",
                                            "{",
                                            "}",
                                            ":",
                                            "'",
                                            "\"",
                                            "-1",
                                            "0",
                                            "1",
                                            "4294967296",
                                            "9223372036854775807",
                                            "18446744073709551616",
                                            "-9223372036854775808",
                                            "99999999999999999999",
                                            "(1, 0, 3)",
                                            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                                            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,",
                                            "<f8",
                                            ">i4",
                                            "|b1",
                                            "|O",
                                            "<V2",
                                            "<U5",
                                            "[('a', '<i4')]",
                                            "L",
                                            "\n",
                                            " ",
                                            std::string(1, '\0'),
                                            "__import__"};

}  // namespace

TEST_CASE("a million damaged .npy files" * doctest::test_suite(sharded_suite)) {
  constexpr std::uint64_t count = 1'000'000;
  const auto seeds = files_of("npy.bin", [](golden_file& f) {
    f.array();
    f.u8();
  });
  CHECK(seeds.size() > 110);
  const tally t = fuzz_reader(seeds, npy_words, count, read_npy_elements);
  MESSAGE("read: ", t.read, ", refused: ", t.refused);
  CHECK(t.read >= least(count, 25));
  CHECK(t.refused >= least(count, 10));
}

TEST_CASE("damaged .npz archives" * doctest::test_suite(sharded_suite)) {
  constexpr std::uint64_t count = 300'000;
  const auto seeds = files_of("npz.bin", [](golden_file& f) {
    for (auto n = f.varint(); n > 0; --n) {
      f.text();
      f.array();
    }
  });
  const std::string one("PK\1\2"), end("PK\5\6"), local("PK\3\4"), zip64("PK\6\6"), locator("PK\6\7");
  try {
    load_npz("/dev/null");
  } catch (const io_error& e) {
    if (std::string(e.what()).find("libzip") != std::string::npos) {
      MESSAGE("skipped: ", e.what());
      return;
    }
  }
  const auto before = memory(cpu).peak;
  const tally t =
      fuzz_reader(seeds, {one, end, local, zip64, locator, "x.npy", std::string(8, '\xff'), std::string(4, '\0')},
                  count, [](std::span<const std::byte> bytes) -> std::string {
                    detail::zip_reader archive(bytes, "[fuzz]");
                    for (const std::string& name : archive.names()) {
                      try {
                        const ndarray x = archive.load(name, {.device = cpu});
                        if (static_cast<std::uint64_t>(x.nbytes()) > 1033 * bytes.size())
                          return "has more elements than deflate can make";
                      } catch (const io_error&) {  // the next member may be whole
                      }
                    }
                    return "";
                  });
  MESSAGE("read: ", t.read, ", refused: ", t.refused);
  CHECK(t.read >= least(count, 10));
  CHECK(t.refused >= least(count, 20));
  CHECK(memory(cpu).peak - before < (64u << 20));
}

TEST_CASE("damaged text files" * doctest::test_suite(sharded_suite)) {
  constexpr std::uint64_t count = 150'000;
  const std::vector<std::string> seeds = {"1,2,3\n4,5,6\n",
                                          "# a b\n1.5 -2e10\nnan inf\n",
                                          "\"a\",\"b\"\n\"1\",\"2\"\n",
                                          "1 2\r\n3 4\r\n",
                                          "a,b,c\n1,,3\n4,NA,6\n",
                                          "(1+2j) 3j\n-1-2j 0\n",
                                          "1;2;3",
                                          "",
                                          "18446744073709551615\n-9223372036854775808"};
  const std::vector<std::string> words = {",",
                                          "\"",
                                          "\"\"",
                                          "#",
                                          "\n",
                                          "\r",
                                          "\r\n",
                                          " ",
                                          "\t",
                                          "e",
                                          "-",
                                          "+",
                                          ".",
                                          "j",
                                          "(",
                                          ")",
                                          "nan",
                                          "inf",
                                          "1e999999999999999999999",
                                          "0x",
                                          std::string(1, '\0'),
                                          std::string(300, '9'),
                                          "\xff"};
  const tally t = fuzz_reader(seeds, words, count, [](std::span<const std::byte> bytes) -> std::string {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool commas = bytes.size() % 2 == 0, quotes = bytes.size() % 3 == 0;
    const dtype types[] = {float64, int64, uint8, bool_, complex128, uint64, float16};
    std::istringstream one(text), two(text), three(text);
    const ndarray x = genfromtxt(one, {.dtype = types[bytes.size() % 7],
                                       .delimiter = commas ? "," : "",
                                       .filling_values = 0,
                                       .names = bytes.size() % 5 == 0,
                                       .invalid_raise = false,
                                       .quotechar = quotes ? '"' : '\0',
                                       .device = cpu});
    if (static_cast<std::size_t>(x.size()) > bytes.size() + 1) return "has more fields than characters";
    const csv_table t = read_csv(three, {.header = bytes.size() % 4 != 0,
                                         .skiprows = static_cast<std::int64_t>(bytes.size() % 3),
                                         .missing_values = {},
                                         .device = cpu});
    if (t.rows() * static_cast<std::int64_t>(t.names().size()) > static_cast<std::int64_t>(bytes.size()) + 1)
      return "has too many rows";
    loadtxt(two, {.delimiter = commas ? "," : "", .device = cpu});
    return "";
  });
  MESSAGE("read: ", t.read, ", refused: ", t.refused);
  CHECK(t.read >= least(count, 50));
  CHECK(t.refused >= least(count, 10));
}
