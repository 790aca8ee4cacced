// Files of sparse arrays that are wrong in one way, and damaged ones: load_npz gives the array, or throws io_error.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "fuzz/mutation.hpp"
#include "io/npz_members.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sinter.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using fuzz::random_numbers;
using parts = std::map<std::string, ndarray>;

/// Text as NumPy's S of its length, of shape ().
io::npy_image word_image(const std::string& word) {
  std::string text = "{'descr': '|S" + std::to_string(word.size()) + "', 'fortran_order': False, 'shape': (), }";
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  io::npy_image image;
  image.header = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text + word;
  return image;
}
void write(const std::string& path, const std::string& format, const parts& p, bool compress) {
  std::vector<io::npz_member> members;
  for (const auto& [name, array] : p) members.push_back({name, io::npy_image_of(array, "fuzz")});
  if (!format.empty()) members.push_back({"format", word_image(format)});
  io::write_npz_members(path, members, compress, "fuzz");
}

/// A whole file's parts: a matrix of a few rows with entries in no order.
struct whole {
  std::string format;
  parts p;
  ndarray dense;
};
/// Elements of some dtype that files have; whole numbers from 0 to 8, or bools.
ndarray in_some_dtype(const std::vector<double>& v, random_numbers& draw) {
  constexpr dtype all[] = {dtype::b1,  dtype::i8,  dtype::u16, dtype::i32, dtype::i64,
                           dtype::f32, dtype::f64, dtype::c64, dtype::c128};
  return array(v).astype(all[draw.below(std::size(all))]);
}
/// Diagonals, of which columns outside of the shape do not count.
whole diagonal_file(random_numbers& draw) {
  const auto rows = static_cast<std::int64_t>(draw.below(6) + 1),
             columns = static_cast<std::int64_t>(draw.below(6) + 1);
  const auto width = static_cast<std::int64_t>(draw.below(8) + 1);
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = -5; k <= 5; ++k)
    if (draw.below(3) == 0 || k == 0) offsets.push_back(k);
  std::vector<double> data;
  for (std::size_t k = 0; k < offsets.size() * static_cast<std::size_t>(width); ++k)
    data.push_back(static_cast<double>(draw.below(9)));
  whole w{"dia", {}, {}};
  w.p["shape"] = array({rows, columns});
  w.p["offsets"] = array(offsets, {.dtype = draw.below(2) == 0 ? int32 : int64});
  w.p["data"] = in_some_dtype(data, draw).reshape(-1, width);
  w.dense = zeros({rows, columns}, {.dtype = w.p["data"].dtype()});
  for (std::size_t d = 0; d < offsets.size(); ++d)
    for (std::int64_t j = 0; j < std::min(width, columns); ++j) {
      const std::int64_t i = j - offsets[d];
      if (i >= 0 && i < rows) w.dense(i, j) = w.p["data"](static_cast<std::int64_t>(d), j);
    }
  return w;
}
whole whole_file(random_numbers& draw) {
  const auto rows = static_cast<std::int64_t>(draw.below(6) + 1),
             columns = static_cast<std::int64_t>(draw.below(6) + 1);
  const auto entries = static_cast<std::int64_t>(draw.below(12) + 2);
  std::vector<std::int64_t> row, column;
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < entries; ++k) {
    row.push_back(static_cast<std::int64_t>(draw.below(static_cast<std::size_t>(rows))));
    column.push_back(static_cast<std::int64_t>(draw.below(static_cast<std::size_t>(columns))));
    numbers.push_back(static_cast<double>(draw.below(9)));
  }
  const ndarray data = in_some_dtype(numbers, draw);
  const ndarray dense = zeros({rows, columns}, {.dtype = data.dtype()});
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const ndarray sum = dense(row[k], column[k]) + data(static_cast<std::int64_t>(k));
    dense(row[k], column[k]) = sum;
  }
  whole w{draw.below(3) == 0 ? "coo" : draw.below(2) == 0 ? "csr" : "csc", {}, dense};
  w.p["shape"] = array({rows, columns});
  w.p["data"] = data;
  const dtype index = draw.below(2) == 0 ? int32 : int64;
  if (w.format == "coo") {
    w.p["row"] = array(row, {.dtype = index});
    w.p["col"] = array(column, {.dtype = index});
    return w;
  }
  const bool by_rows = w.format == "csr";
  const auto &major = by_rows ? row : column, &minor = by_rows ? column : row;
  std::vector<std::int64_t> indptr{0}, indices, order;
  for (std::int64_t m = 0; m < (by_rows ? rows : columns); ++m) {
    for (std::size_t k = 0; k < numbers.size(); ++k)
      if (major[k] == m) indices.push_back(minor[k]), order.push_back(static_cast<std::int64_t>(k));
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
  }
  w.p["data"] = data(array(order)).copy();
  w.p["indices"] = array(indices, {.dtype = index});
  w.p["indptr"] = array(indptr, {.dtype = index});
  return w;
}

std::string damage_of_diagonals(whole& w, random_numbers& draw) {
  ndarray &offsets = w.p["offsets"], &data = w.p["data"];
  switch (draw.below(8)) {
    case 0: offsets = concatenate({offsets, offsets(slice(0, 1))}); return "offsets too long";
    case 1:
      offsets = concatenate({offsets, offsets(slice(0, 1))});
      data = concatenate({data, data(slice(0, 1))});
      return "an offset twice";
    case 2: offsets = offsets.astype(float64); return "offsets of floats";
    case 3: offsets = offsets(newaxis).copy(); return "offsets of two axes";
    case 4: data = data(newaxis).copy(); return "diagonals of three axes";
    case 5: w.p["shape"] = array({-1, 3}); return "diagonals of a negative extent";
    case 6: w.p.erase("offsets"); return "without offsets";
    default: w.p.erase("data"); return "diagonals without data";
  }
}

/// One thing wrong; what it is called.
std::string damage(whole& w, random_numbers& draw) {
  if (w.format == "dia") return damage_of_diagonals(w, draw);
  const bool coo = w.format == "coo";
  const std::string index = coo ? (draw.below(2) == 0 ? "row" : "col") : "indices";
  ndarray& at = w.p[index];
  const auto place = static_cast<std::int64_t>(draw.below(static_cast<std::size_t>(at.size())));
  const std::int64_t far = std::numeric_limits<std::int32_t>::max();
  switch (draw.below(coo ? 14 : 19)) {
    case 0: at(place) = -1; return index + " negative";
    case 1: at(place) = 6; return index + " past the extent";
    case 2: at(place) = far; return index + " far past the extent";
    case 3: at = at.astype(float64); return index + " of floats";
    case 4: at = at(slice(1, _)).copy(); return index + " too short";
    case 5: at = concatenate({at, at}); return index + " too long";
    case 6: at = at(newaxis).copy(); return index + " of two axes";
    case 7: w.p["data"] = w.p["data"](slice(1, _)).copy(); return "data too short";
    case 8: w.p["data"] = w.p["data"](newaxis).copy(); return "data of two axes";
    case 9: w.p["shape"] = array({1, 2, 3}); return "three extents";
    case 10: w.p["shape"](place % 2) = -1; return "a negative extent";
    case 11: w.p["shape"] = w.p["shape"].astype(float64); return "extents of floats";
    case 12: {
      const std::vector<std::string> others{"bsr", "lil", "cs", "csrr", "\xff\xff\xff", "CSR"};
      w.format = others[draw.below(others.size())];
      return "another format";
    }
    case 13: {
      auto member = w.p.begin();
      std::advance(member, static_cast<std::ptrdiff_t>(draw.below(w.p.size())));
      const std::string name = member->first;
      w.p.erase(member);
      return "without " + name;
    }
    case 14: w.p["indptr"](0) = 1; return "indptr that begins late";
    case 15: w.p["indptr"](-1) = static_cast<std::int64_t>(at.size()) + 1; return "indptr past the entries";
    case 16: {
      w.p["indptr"](-1) = static_cast<std::int64_t>(at.size());
      w.p["indptr"](0) = at.size() + 1;
      return "indptr that decreases";
    }
    case 17: w.p["indptr"] = w.p["indptr"](slice(0, -1)).copy(); return "indptr too short";
    default: w.p["indptr"] = w.p["indptr"].astype(float32); return "indptr of floats";
  }
}

std::optional<std::uint64_t> wanted() {
  const char* text = std::getenv("SINTER_FUZZ_FILE");
  return text && *text ? std::optional<std::uint64_t>(std::strtoull(text, nullptr, 10)) : std::nullopt;
}
bool no_zip(const std::string& path) {
  try {
    (void)sparse::load_npz(path);
  } catch (const io_error& e) {
    if (std::string(e.what()).find("libzip") == std::string::npos) return false;
    MESSAGE("left out: " << e.what());
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("files of sparse arrays: damaged in one way they are refused, whole ones read") {
  if (no_zip("/dev/null")) return;
  const sinter_test::scratch_folder folder;
  const std::string path = folder / "s.npz";
  std::map<std::string, int> kinds;
  for (std::uint64_t number = 0; number < 3000; ++number) {
    if (wanted() && *wanted() != number) continue;
    random_numbers draw(number);
    CAPTURE(number);
    whole w = draw.below(5) == 0 ? diagonal_file(draw) : whole_file(draw);
    write(path, w.format, w.p, draw.below(2) == 0);
    const sparse::sparse_array whole_one = sparse::load_npz(path, {.device = cpu});
    REQUIRE(whole_one.dtype() == w.dense.dtype());
    REQUIRE(array_equal(whole_one.toarray(), w.dense.to_host()));
    const std::string what = damage(w, draw);
    ++kinds[what];
    CAPTURE(what);
    CAPTURE(w.format);
    write(path, w.format, w.p, false);
    CHECK_THROWS_AS((void)sparse::load_npz(path, {.device = cpu}), io_error);
  }
  if (!wanted()) CHECK(kinds.size() >= 38);
}

TEST_CASE("files of sparse arrays: damaged bytes") {
  if (no_zip("/dev/null")) return;
  const sinter_test::scratch_folder folder;
  const std::string path = folder / "s.npz";
  std::vector<std::string> seeds;
  for (std::uint64_t number = 0; number < 40; ++number) {
    random_numbers draw(number);
    const whole w = whole_file(draw);
    write(path, w.format, w.p, number % 2 == 0);
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const std::vector<std::string> words{"csr", "coo", "indptr.npy", "data.npy", "<f8",
                                       "<i4", "|S3", "(2,)",       "PK\3\4",   std::string(8, '\xff')};
  const auto before = memory(cpu).peak;
  int refused = 0, read = 0;
  for (std::uint64_t number = 0; number < 6000; ++number) {
    if (wanted() && *wanted() != number) continue;
    CAPTURE(number);
    std::ofstream(path, std::ios::binary) << fuzz::mutated(seeds, words, number);
    try {
      const sparse::sparse_array a = sparse::load_npz(path, {.device = cpu});
      CHECK(a.toarray().shape() == a.shape());
      ++read;
    } catch (const io_error&) {
      ++refused;
    }
  }
  MESSAGE("read: ", read, ", refused: ", refused);
  if (!wanted()) CHECK(refused > 3000);
  CHECK(memory(cpu).peak - before < (64u << 20));
}
