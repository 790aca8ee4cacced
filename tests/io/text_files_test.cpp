// Text files: what NumPy's loadtxt, genfromtxt and savetxt give, columns by name, and messages that give the place.
#include <doctest/doctest.h>

#include <clocale>
#include <fstream>
#include <sstream>

#include "golden/golden.hpp"
#include "support/message_of.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using namespace sinter::idx;
using sinter_test::refuses;
using sinter_test::scratch_folder;

/// One call of a reader, as it is stored in the golden file.
struct call {
  bool generates = false;
  std::string text, comments, delimiter, quote;
  std::optional<dtype> type;
  std::int64_t skip = 0, footer = 0, max_rows = -1;
  std::vector<std::string> missing;
  std::optional<scalar> filling;
  columns cols;
  bool names = false, unpack = false, loose = true, raises = true;
  int ndmin = 0;

  explicit call(golden_file& f) {
    generates = f.u8() != 0;
    text = f.text();
    const auto code = f.u8();
    if (code != 255) type = static_cast<dtype>(code);
    comments = f.text();
    delimiter = f.text();
    skip = f.varint();
    footer = f.varint();
    missing.resize(static_cast<std::size_t>(f.varint()));
    for (auto& m : missing) m = f.text();
    const bool fills = f.u8() != 0;
    const double value = f.f64();
    if (fills) filling = type && is_integer(*type) ? scalar(static_cast<int>(value)) : scalar(value);
    read_columns(f);
    names = f.u8() != 0;
    unpack = f.u8() != 0;
    loose = f.u8() != 0;
    raises = f.u8() != 0;
    max_rows = f.varint();
    ndmin = static_cast<int>(f.varint());
    quote = f.text();
  }

  void read_columns(golden_file& f) {
    const bool named = f.u8() != 0;
    const auto n = f.varint();
    std::vector<std::string> words;
    std::vector<int> numbers;
    for (std::int64_t k = 0; k < n; ++k)
      named ? words.push_back(f.text()) : numbers.push_back(static_cast<int>(f.varint()));
    if (n > 0) cols = named ? columns(words) : columns(numbers);
  }

  ndarray run() const {
    std::istringstream in(text);
    const auto rows = max_rows < 0 ? std::optional<std::int64_t>() : max_rows;
    const char q = quote.empty() ? '\0' : quote[0];
    if (!generates)
      return loadtxt(in, {.dtype = type,
                          .comments = comments,
                          .delimiter = delimiter,
                          .skiprows = skip,
                          .usecols = cols,
                          .unpack = unpack,
                          .ndmin = ndmin,
                          .max_rows = rows,
                          .quotechar = q});
    return genfromtxt(in, {.dtype = type,
                           .comments = comments,
                           .delimiter = delimiter,
                           .skip_header = skip,
                           .skip_footer = footer,
                           .missing_values = missing,
                           .filling_values = filling,
                           .usecols = cols,
                           .names = names,
                           .unpack = unpack,
                           .loose = loose,
                           .invalid_raise = raises,
                           .max_rows = rows,
                           .ndmin = ndmin});
  }
};

ndarray read(const std::string& text, const loadtxt_kw& kw = {}) {
  std::istringstream in(text);
  return loadtxt(in, kw);
}
csv_table csv(const std::string& text, const csv_kw& kw = {}) {
  std::istringstream in(text);
  return read_csv(in, kw);
}

}  // namespace

TEST_CASE("loadtxt and genfromtxt read what NumPy's do, and refuse what those refuse") {
  golden_file f("text.bin");
  int refused = 0;
  for (int i = 0; i < f.cases(); ++i) {
    const call c(f);
    const bool fails = f.u8() != 0;
    const host_array expected = fails ? host_array() : f.array();
    std::string problem;
    host_array got;
    try {
      got = download(c.run());
    } catch (const error& e) {
      problem = e.what();
    }
    const std::string what =
        "case " + std::to_string(i) + (c.generates ? " genfromtxt " : " loadtxt ") + "'" + c.text + "' ";
    CHECK_MESSAGE(problem.empty() == !fails, what, problem);
    if (problem.empty() && !fails) CHECK_MESSAGE(difference(got, expected, {closeness::exact, 0, false}) == "", what);
    refused += fails;
  }
  CHECK(f.at_end());
  CHECK(refused > 50);
}

TEST_CASE("savetxt writes what NumPy's does, and refuses what that refuses") {
  golden_file f("savetxt.bin");
  for (int i = 0; i < f.cases(); ++i) {
    const host_array a = f.array();
    const bool each = f.u8() != 0;
    std::vector<std::string> formats(static_cast<std::size_t>(f.varint()));
    for (auto& t : formats) t = f.text();
    const std::string delimiter = f.text(), newline = f.text(), header = f.text(), footer = f.text(),
                      comments = f.text();
    const bool fails = f.u8() != 0;
    const std::string expected = fails ? "" : f.text();
    std::ostringstream out;
    std::string problem;
    try {
      savetxt(out, upload(a),
              {.fmt = each ? text_format(formats) : text_format(formats[0]),
               .delimiter = delimiter,
               .newline = newline,
               .header = header,
               .footer = footer,
               .comments = comments});
    } catch (const error& e) {
      problem = e.what();
    }
    const std::string what = "case " + std::to_string(i) + " '" + formats[0] + "' " + show(a);
    CHECK_MESSAGE(problem.empty() == !fails, what, problem);
    if (!fails) CHECK_MESSAGE(out.str() == expected, what);
  }
  CHECK(f.at_end());
}

TEST_CASE("what is wrong in a text file is named with its place") {
  refuses<io_error>([] { read("1 2\n\n3 x\n"); }, "[loadtxt] the stream line 3, column 2: 'x' is no float64");
  refuses<io_error>([] { read("1 2\n3 4 5\n"); }, "line 2 has 3 columns, the lines before have 2");
  refuses<io_error>([] { read("1 2\n3\n", {.usecols = 1}); }, "line 2 has 1 columns, none with number 1");
  refuses<io_error>([] { read("300", {.dtype = uint8}); }, "'300' is no uint8");
  refuses<io_error>([] { read(std::string(5000, 'x')); }, "xxx...' is no");
  refuses<value_error>([] { read("1", {.usecols = "a"}); }, "numbers");
  refuses<value_error>([] { read("1", {.ndmin = 3}); }, "ndmin");
  refuses<value_error>([] { read("1", {.skiprows = -1}); }, "skiprows is negative");
  std::istringstream ragged("1 2\n3 4 5\n6\n7 8\n");
  refuses<io_error>([&] { genfromtxt(ragged); }, "has 2 columns, but line 2 has 3, line 3 has 1");
  std::istringstream empty("1,,3");
  refuses<value_error>([&] { genfromtxt(empty, {.dtype = uint8, .delimiter = ","}); }, "filling_values");
  std::istringstream overflow("1,,3");
  refuses<dtype_error>([&] { genfromtxt(overflow, {.dtype = uint8, .delimiter = ",", .filling_values = 256}); }, "fit");
  std::istringstream names("a,b\n1,2");
  refuses<value_error>([&] { genfromtxt(names, {.delimiter = ",", .usecols = {"c"}, .names = true}); },
                       "there is no column 'c'; there are a, b");
  refuses<io_error>([] { loadtxt("/no such folder/x.txt"); }, "[loadtxt] '/no such folder/x.txt' cannot be opened");
}

TEST_CASE("tables go to files and back") {
  const scratch_folder folder;
  const std::string path = folder / "x.txt";
  const ndarray x = reshape(sin(arange(1000, {.dtype = float64})), {100, 10});
  savetxt(path, x, {.header = "sines"});
  CHECK(array_equal(loadtxt(path), x));
  CHECK(array_equal(genfromtxt(path, {.skip_header = 1}), x));
  savetxt(path, x.astype(float32).T(), {.fmt = "%.9g", .delimiter = ","});
  CHECK(array_equal(loadtxt(path, {.dtype = float32, .delimiter = ",", .unpack = true}), x.astype(float32)));
  savetxt(path, array({std::complex<double>(1, -2), std::complex<double>(0.5, 3)}));
  CHECK(array_equal(loadtxt(path, {.dtype = complex128}),
                    array({std::complex<double>(1, -2), std::complex<double>(0.5, 3)})));
  const ndarray half = array({0.1, 65504.0, 1e-7}, {.dtype = float16});
  savetxt(path, half, {.fmt = "%s"});
  CHECK(array_equal(loadtxt(path, {.dtype = float16}), half));
  refuses<value_error>([&] { savetxt(path, x, {.fmt = "%n"}); }, "'%n' is none that numbers can be written by");
  refuses<value_error>([&] { savetxt(path, x, {.fmt = "%*d"}); }, "is none");
  refuses<value_error>([&] { savetxt(path, x, {.fmt = "%99999d"}); }, "is none");
  refuses<value_error>([&] { savetxt(path, x, {.fmt = "%.99999f"}); }, "is none");
  refuses<value_error>([&] { savetxt(path, x, {.fmt = "%"}); }, "is none");
  refuses<shape_error>([&] { savetxt(path, array(1)); }, "shape ()");
  CHECK(array_equal(loadtxt(path, {.dtype = float16}), half));  // nothing was replaced
}

TEST_CASE("read_csv takes columns by name, whatever is in the others") {
  const std::string text =
      "\xef\xbb\xbfname,lat, lon ,\"size, in km\"\r\n"
      "\"Köln, Rhein\",50.9,6.9,405\r\n"
      "\"a \"\"quoted\"\" one\",NA,,1\r\n"
      "\"two\nlines\",-1e1,7,\"2\"\r\n";
  const csv_table t = csv(text, {.usecols = {"lon", "lat", "size, in km"}});
  CHECK(t.names() == std::vector<std::string>{"lon", "lat", "size, in km"});
  CHECK(t.rows() == 3);
  CHECK(t.array().shape() == shape_t{3, 3});
  CHECK(t["size, in km"].to_vector<int>() == std::vector<int>{405, 1, 2});
  CHECK(t["lat"](list{0, 2}).to_vector<double>() == std::vector<double>{50.9, -10});
  CHECK(isnan(t["lon"]).to_vector<bool>() == std::vector<bool>{false, true, false});
  CHECK(t.contains("lat"));
  CHECK_FALSE(t.contains("name"));
  refuses<index_error>([&] { t["name"]; }, "there is no column 'name'; there are lon, lat, size, in km");
  refuses<io_error>([&] { csv(text); }, "line 2, column 1: 'Köln, Rhein' is no float64");
  refuses<value_error>([&] { csv(text, {.usecols = {"alt"}}); }, "there is no column 'alt'; there are name, lat");
  const csv_table ids = csv(text, {.usecols = {-1}, .dtype = uint16});
  CHECK(ids.names()[0] == "size, in km");
  CHECK(ids.array().dtype() == uint16);
  const csv_table filled = csv(text, {.usecols = {"lat"}, .missing_values = {"NA", "50.9"}, .filling_values = 0});
  CHECK(filled["lat"].to_vector<double>() == std::vector<double>{0, 0, -10});
}

TEST_CASE("read_csv: tables without names, other delimiters, nothing at all, lines that differ from the header") {
  const csv_table t = csv("1;2\n3;4\n5;6\n", {.delimiter = ";", .header = false, .max_rows = 2});
  CHECK(t.names() == std::vector<std::string>{"0", "1"});
  CHECK(t["1"].to_vector<int>() == std::vector<int>{2, 4});
  CHECK(csv("").rows() == 0);
  CHECK(csv("1;2", {.header = false, .skiprows = 1}).rows() == 0);
  CHECK(csv("1;2\r\n", {.header = false, .skiprows = 9}).names().empty());
  CHECK(csv("\n\n\na,b\r\r1,2\r", {.skiprows = 2})["b"].item<int>() == 2);
  CHECK(csv("a,b\n").array().shape() == shape_t{0, 2});
  CHECK(csv("# made by hand\n%a b\n1 2\n", {.delimiter = "", .comments = "%", .skiprows = 1})["b"].item<int>() == 2);
  refuses<io_error>([] { csv("a,b\n1,2,3\n"); }, "has 2 columns, but line 2 has 3");
  refuses<io_error>([] { csv("a,b\n1,\"2\n3,4\n"); }, "line 3, column 2: '2?3,4' is no float64");  // a quote too few
  refuses<value_error>([] { csv("a,b\n1,2\n", {.usecols = 5}); }, "no column 5");
}

TEST_CASE("the locale changes neither what is read nor what is written") {
  const char* const before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string kept = before ? before : "C";
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    found = found || std::setlocale(LC_NUMERIC, name);
  if (!found) MESSAGE("skipped: no locale with a decimal comma is installed");
  std::ostringstream out;
  savetxt(out, array({0.5, 1234567.0}), {.fmt = "%.2f"});
  CHECK(out.str() == "0.50\n1234567.00\n");
  CHECK(read("0.5 1e400").to_vector<double>() == std::vector<double>{0.5, HUGE_VAL});
  CHECK(to_string(array({0.5, 1.25})) == "[0.5  1.25]");
  std::setlocale(LC_NUMERIC, kept.c_str());
}
