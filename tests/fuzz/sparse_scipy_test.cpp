// Random programs of sparse and dense arrays of all formats and dtypes beside SciPy's results (make_sparse_fuzz.py).
// SINTER_FUZZ_CASE=123 replays one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "fuzz/sparse_machine.hpp"
#include "golden/golden.hpp"
#include "support/sample.hpp"
#include "support/shard.hpp"

#ifndef SINTER_FUZZ_DIR
#define SINTER_FUZZ_DIR SINTER_TEST_SOURCE_DIR "/fuzz"
#endif

namespace {

using namespace sinter;
using namespace sinter::test;
using fuzz::sparse_instruction;
using fuzz::sparse_value;

/// An array as it is, or of whole numbers.
host_array read_elements(golden_file& f) {
  const bool whole = f.u8() != 0;
  host_array a = f.array();
  if (!whole) return a;
  a.shape = f.dims();
  a.bytes.clear();
  with_element(a.type, [&]<class T>(T) {
    for (std::int64_t k = 0; k < a.size(); ++k) {
      T x{};
      if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        const auto re = static_cast<typename T::value_type>(f.varint()),
                   im = static_cast<typename T::value_type>(f.varint());
        x = T(re, im);
      } else {
        x = static_cast<T>(static_cast<double>(f.varint()));
      }
      const auto* const bytes = reinterpret_cast<const std::byte*>(&x);
      a.bytes.insert(a.bytes.end(), bytes, bytes + sizeof(T));
    }
  });
  return a;
}

struct expected_result {
  bool is_sparse = false;
  std::string format;
  std::int64_t nnz = -1;
  policy tolerance{};
  host_array dense;
};
struct read_instruction {
  std::string name;
  std::vector<std::int64_t> registers, numbers;
  std::vector<host_array> arrays;
  bool fails = false;
  std::vector<expected_result> results;
};
read_instruction read(golden_file& f) {
  read_instruction i{f.text(), f.dims(), f.dims(), {}, false, {}};
  for (std::int64_t k = f.varint(); k > 0; --k) i.arrays.push_back(read_elements(f));
  const std::int64_t results = f.varint();
  i.fails = results < 0;
  for (std::int64_t k = 0; k < results; ++k) {
    expected_result r;
    r.is_sparse = f.u8() != 0;
    if (r.is_sparse) r.format = f.text(), r.nnz = f.varint();
    r.tolerance = f.tolerance();
    r.dense = read_elements(f);
    i.results.push_back(std::move(r));
  }
  return i;
}

/// What is wrong with a result; empty if nothing is.
std::string fault_of(const sparse_value& got, const expected_result& expected) {
  if (got.s.defined() != expected.is_sparse) return expected.is_sparse ? "is not sparse" : "is sparse";
  if (!expected.is_sparse) return difference(download(got.d), expected.dense, expected.tolerance);
  const sparse::sparse_array& s = got.s;
  if (!expected.format.empty() && sparse::name(s.format()) != expected.format)
    return "format " + std::string(sparse::name(s.format())) + ", not " + expected.format;
  if (expected.nnz >= 0 && s.nnz() != expected.nnz)
    return std::to_string(s.nnz()) + " entries, not " + std::to_string(expected.nnz);
  if (s.dtype() != expected.dense.type) return "dtype " + std::string(name(s.dtype()));
  return difference(download(s.toarray()), expected.dense, expected.tolerance);
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
/// What an instruction should have left of its operand's format and entries; empty if nothing is wrong.
std::string lost(const std::string& name, const sparse::sparse_array& before, const sparse::sparse_array& after) {
  using sparse::format;
  const format f = before.format();
  const bool coo = f == format::coo;
  if (is_one_of(name,
                {"copy", "conj", "negative", "eliminate_zeros", "reshape", "resize", "tril", "triu", "setdiag"}) &&
      after.format() != f)
    return "another format";
  if (name == "transpose" && after.format() != (coo ? f : f == format::csr ? format::csc : format::csr))
    return "another format";
  if (is_one_of(name, {"slice", "rows", "columns", "sum_duplicates"}) && !coo && after.format() != f)
    return "another format";
  const bool keeps = is_one_of(name, {"transpose", "copy", "negative", "to coo", "times number", "times half"}) ||
                     (!coo && is_one_of(name, {"to csr", "to csc", "sort_indices"}));
  if (keeps && before.dtype() != bool_ && after.nnz() != before.nnz()) return "other entries";
  if (name == "sum_duplicates" && !after.has_canonical_format()) return "is not canonical";
  if (name == "eliminate_zeros" && count_nonzero(after.data()).item<std::int64_t>() != after.nnz()) return "has zeros";
  return {};
}

/// A program's instructions: each compared when it has run, or all at the end, when copies and views of the parts have
/// been made and others have been computed from what was only recorded.
class run_of {
 public:
  run_of(const std::vector<read_instruction>& program, bool at_once) : program_(program), at_once_(at_once) {
    for (const read_instruction& i : program_) step(i);
    for (std::size_t k = 0; k < program_.size(); ++k)
      if (!program_[k].fails) compare(k);
  }

 private:
  void step(const read_instruction& i) {
    sparse_instruction now{i.name, {}, i.numbers, {}};
    for (const std::int64_t r : i.registers) now.operands.push_back(results_[static_cast<std::size_t>(r)].at(0));
    for (const host_array& a : i.arrays) now.arrays.push_back(upload(a));
    text_ += i.name + "; ";
    try {
      results_.push_back(fuzz::execute(now));
      if (now.operands.size() == 1 && now.operands[0].s.defined() && results_.back()[0].s.defined()) {
        const std::string what = lost(i.name, now.operands[0].s, results_.back()[0].s);
        CHECK_MESSAGE(what.empty(), text_, what);
      }
      if (i.fails)
        for (const sparse_value& v : results_.back()) v.s.defined() ? sparse::eval(v.s) : eval(v.d);
      CHECK_MESSAGE(!i.fails, text_, "no error");
    } catch (const error& e) {
      CHECK_MESSAGE(i.fails, text_, e.what());
      results_.emplace_back(i.fails ? 0 : i.results.size(), sparse_value(zeros({1, 1})));
    }
    if (at_once_ && !i.fails) compare(results_.size() - 1);
  }
  void compare(std::size_t k) {
    const auto& expected = program_[k].results;
    REQUIRE(results_[k].size() == expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const std::string wrong = fault_of(results_[k][j], expected[j]);
      CHECK_MESSAGE(wrong.empty(), text_, "instruction ", k, ", ", program_[k].name, ": ", wrong);
    }
  }

  const std::vector<read_instruction>& program_;
  bool at_once_;
  std::vector<std::vector<sparse_value>> results_;
  std::string text_;
};

}  // namespace

TEST_CASE("random programs of sparse arrays give SciPy's results" * doctest::test_suite(sharded_suite)) {
  const char* const folder = std::getenv("SINTER_FUZZ_DIR");
  golden_file f(std::string(folder && *folder ? folder : SINTER_FUZZ_DIR) + "/sparse_programs.bin", "SNFUZZ2\n");
  f.text();
  std::uint32_t count = 0;
  std::memcpy(&count, f.raw(4).data(), 4);
  const char* const wanted = std::getenv("SINTER_FUZZ_CASE");
  const test::sample part(16);
  CHECK(count >= 500);
  for (int number = 0; number < static_cast<int>(count); ++number) {
    std::vector<read_instruction> program;
    for (std::int64_t k = f.varint(); k > 0; --k) program.push_back(read(f));
    if (wanted && *wanted ? std::atoi(wanted) != number : !part.takes(number) || !this_shard().takes(number / 20))
      continue;
    CAPTURE(number);
    run_of(program, false);
    run_of(program, true);
  }
  CHECK(f.at_end());
}
