// Rules of sparse arrays that no table of results shows: values, what is recorded, errors, text, files, devices.
#include "sinter/sparse.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "support/kernel_test.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
using sinter::test::contains;
using sinter::test::kernels_of;
using sinter::test::message_of;
using sparse::csr_array;
using sparse::sparse_array;

ndarray small_matrix() { return array({{1.0, 0, 2}, {0, 0, 3}, {4, 5, 6}, {0, 0, 0}}); }

/// The same entries in every run.
sparse_array random_entries(std::int64_t rows, std::int64_t columns, double density, dtype type = float64) {
  random::generator g(7);
  return sparse::random_array({rows, columns}, density, {.dtype = type, .rng = &g});
}

}  // namespace

TEST_CASE("sparse: arrays are values") {
  ndarray data = array({1.0, 2, 3}), indices = array({0, 2, 1}), indptr = array({0, 2, 3});
  sparse_array a = csr_array(data, indices, indptr, shape_t{2, 3});
  data(0) = 100;
  indices(0) = 77;
  indptr(1) = -5;
  CHECK(array_equal(a.toarray(), array({{1.0, 0, 2}, {0, 3, 0}})));
  a.data()(0) = 100;  // of an array that is not a's
  CHECK(a.at(0, 0).item<double>() == 1);
  sparse_array b = a;
  b.setdiag(9);
  b.eliminate_zeros();
  CHECK(a.nnz() == 3);
  CHECK(array_equal(a.toarray(), array({{1.0, 0, 2}, {0, 3, 0}})));
  CHECK(array_equal(b.toarray(), array({{9.0, 0, 2}, {0, 9, 0}})));
}

TEST_CASE("sparse: elementwise work is recorded for the data, as one kernel") {
  const sparse_array a = csr_array(small_matrix());
  CHECK(a.has_canonical_format());
  eval(a.data());
  const sparse_array b = sqrt(abs(-a * 2 + a * 3 - a)) / 4;
  const sparse_array c = (a * 2).conj().astype(float32);
  CHECK(kernels_of(c.data()) == 1);
  CHECK(c.dtype() == float32);
  CHECK(b.shape() == a.shape());
  // The places are those of a: the same indices, whoever asks.
  CHECK(array_equal(c.indices(), a.indices()));
}

TEST_CASE("sparse: explain shows what is recorded for the elements, and eval does it") {
  for (const char* f : {"csr", "csc", "coo"}) {
    const sparse_array a = csr_array(small_matrix()).asformat(f);
    eval(a);
    const sparse_array b = sqrt(2 * a);
    const std::string pending = explain(b);
    CHECK(contains(pending, "6 stored elements and shape (4, 3)"));
    CHECK(contains(pending, "sqrt"));
    eval(b);
    CHECK(!contains(explain(b), "sqrt"));
  }
  CHECK_THROWS_AS(eval(sparse_array()), value_error);
  CHECK_THROWS_AS(explain(sparse_array()), value_error);
}

TEST_CASE("sparse: setdiag of places that are all there changes their elements alone") {
  const ndarray dense = tri(6, 7, {.k = 1}) - tri(6, 7, {.k = -2});
  for (const char* f : {"csr", "csc", "coo"})
    for (const std::int64_t k : {-1, 0, 1})
      for (const bool some : {false, true}) {
        const sparse_array a = csr_array(dense).asformat(f);
        sparse_array b = a;
        const std::int64_t length = a.diagonal(k).len(), count = some ? 2 : length;
        const ndarray values = arange(count) + 10.0;
        b.setdiag(values, k);
        ndarray expected = dense.copy();
        const std::int64_t down = k < 0 ? -k : 0, right = k > 0 ? k : 0;
        for (std::int64_t i = 0; i < count; ++i) expected(i + down, i + right) = values(i);
        CHECK(array_equal(b.toarray(), expected));
        CHECK(b.nnz() == a.nnz());
        CHECK(array_equal(b.col(), a.col()));
        CHECK(array_equal(a.toarray(), dense));
        b.setdiag(0, k);
        CHECK(b.nnz() == a.nnz());
        CHECK(all(b.diagonal(k) == 0).item<bool>());
      }
  sparse_array twice = sparse::coo_array(array({1.0, 2.0, 3.0}), array({0, 0, 1}), array({0, 0, 1}), shape_t{3, 3});
  twice.setdiag(array({5.0, 6.0}));
  CHECK(array_equal(twice.toarray(), array({{5.0, 0.0, 0.0}, {0.0, 6.0, 0.0}, {0.0, 0.0, 0.0}})));
}

TEST_CASE("sparse: the transpose has the same parts") {
  const sparse_array a = csr_array(small_matrix());
  CHECK(a.T().format() == sparse::format::csc);
  CHECK(array_equal(a.T().indptr(), a.indptr()));
  CHECK(a.T().has_canonical_format());
  CHECK(array_equal(a.T().toarray(), small_matrix().T()));
}

TEST_CASE("sparse: alpha, beta and y are part of the product") {
  const sparse_array a = random_entries(70, 40, 0.2);
  const ndarray x = arange(40) * 0.5, y = arange(70) - 3.0;
  const ndarray plain = matmul(a.toarray(), x);
  CHECK(allclose(matmul(a, x, {.alpha = 2, .beta = -3, .y = y}), 2 * plain - 3 * y));
  CHECK(allclose(a.dot(x, {.beta = 5}), plain));
  CHECK(allclose(matmul(y, a, {.alpha = 0.5, .y = x}), 0.5 * matmul(y, a.toarray()) + x));
  const ndarray wide = matmul(a, x.reshape(40, 1), {.alpha = 2});
  CHECK(allclose(wide, 2 * plain.reshape(70, 1)));
}

TEST_CASE("sparse: products do not depend on what else runs, and have the same bits again") {
  const sparse_array a = random_entries(3000, 2000, 0.05);
  const ndarray x = random::generator(3).normal(0, 1, 2000).copy(), y = random::generator(4).normal(0, 1, 3000).copy();
  const ndarray first = a.dot(x).copy(), across = a.T().dot(y).copy();
  for (int k = 0; k < 5; ++k) {
    CHECK(array_equal(a.dot(x), first));
    CHECK(array_equal(a.T().dot(y), across));
  }
  CHECK(allclose(first, matmul(a.toarray(), x)));
  CHECK(allclose(across, matmul(a.toarray().T(), y)));
}

TEST_CASE("sparse: transposed products of bands and of many entries, in parts") {
  const std::int64_t n = 200000;
  const sparse_array band = sparse::diags({array({-1.0}), array({2.0}), array({3.0})}, {-1, 0, 2}, shape_t{n, n});
  const ndarray x = arange(n) % 17 * 1.0;
  ndarray expected = 2 * x;
  expected(slice(0, -1)) += -1 * x(slice(1, _));
  expected(slice(2, _)) += 3 * x(slice(0, -2));
  CHECK(array_equal(band.T().dot(x), expected));
  CHECK(array_equal(band.T().dot(x, {.alpha = 2, .beta = -2, .y = expected}), zeros(n)));
}

TEST_CASE("sparse: NaN, infinity and empty arrays") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  sparse_array a = csr_array(array({nan, 1.0}), array({0, 1}), array({0, 1, 2, 2}), shape_t{3, 2});
  CHECK(std::isnan(a.max().item<double>()));
  CHECK(std::isnan(a.max(1)(0).item<double>()));
  CHECK(a.max(1)(1).item<double>() == 1);
  CHECK(a.argmax(0)(0).item<std::int64_t>() == 0);
  CHECK(a.min(0)(1).item<double>() == 0);
  const ndarray product = a.dot(array({std::numeric_limits<double>::infinity(), 2.0}));
  CHECK(std::isnan(product(0).item<double>()));
  CHECK(product(2).item<double>() == 0);
  const sparse_array none = csr_array(shape_t{0, 0});
  CHECK(none.nnz() == 0);
  CHECK(none.dot(zeros(0)).shape() == shape_t{0});
  CHECK(matmul(csr_array(shape_t{3, 0}), csr_array(shape_t{0, 2})).toarray().shape() == shape_t{3, 2});
}

TEST_CASE("sparse: bad parts are named") {
  const ndarray one = array({1.0}), two = array({1.0, 2.0});
  const shape_t shape{2, 3};
  const auto of_parts = [&](const ndarray& d, const ndarray& i, const ndarray& p) { csr_array(d, i, p, shape); };
  CHECK(contains(message_of<index_error>([&] {
                   of_parts(two, array({0, 3}), array({0, 1, 2}));
                 }),
                 "[csr_array] indices[1] is 3, which is out of range for extent 3"));
  CHECK(contains(message_of<index_error>([&] {
                   of_parts(two, array({0, -1}), array({0, 1, 2}));
                 }),
                 "indices[1] is -1"));
  CHECK(contains(message_of<value_error>([&] {
                   of_parts(two, array({0, 1}), array({0, 2, 1}));
                 }),
                 "indptr decreases: indptr[2] is 1 after 2"));
  CHECK(contains(message_of<value_error>([&] { of_parts(two, array({0, 1}), array({1, 1, 2})); }), "starts with 1"));
  CHECK(contains(message_of<value_error>([&] { of_parts(one, array({0}), array({0, 1, 2})); }), "only 1 entries"));
  CHECK(contains(message_of<shape_error>([&] { of_parts(one, array({0}), array({0, 1})); }), "needs 3"));
  CHECK(contains(message_of<dtype_error>([&] { of_parts(one, array({0.5}), array({0, 1, 1})); }), "float64"));
  CHECK(contains(message_of<shape_error>([&] { csr_array(zeros({2, 2, 2})); }), "(2, 2, 2)"));
  CHECK(contains(message_of<value_error>([&] { csr_array(ndarray()); }), "[csr_array] the dense array is undefined"));
  CHECK(contains(message_of<value_error>([&] {
                   of_parts(one, ndarray(), array({0, 1, 1}));
                 }),
                 "[csr_array] indices is undefined"));
  CHECK(
      contains(message_of<index_error>([&] { sparse::coo_array(one, array({5}), array({0}), shape); }), "row[0] is 5"));
  CHECK(contains(message_of<shape_error>([&] { sparse::coo_array(one, array({0, 1}), array({0}), shape); }), "row 2"));
  CHECK(contains(message_of<value_error>([&] { sparse::diags({one, one}, {0, 0}); }), "offset 0 is there twice"));
  CHECK(contains(message_of<dtype_error>([&] { csr_array(shape, {.index_dtype = float32}); }), "float32"));
}

TEST_CASE("sparse: operands that do not fit are named") {
  const sparse_array a = csr_array(small_matrix());
  CHECK(contains(message_of<shape_error>([&] { matmul(a, zeros(4)); }), "shapes (4, 3) and (4,) do not fit"));
  CHECK(contains(message_of<shape_error>([&] { matmul(zeros(3), a); }), "shapes (3,) and (4, 3) do not fit"));
  CHECK(contains(message_of<shape_error>([&] { matmul(a, a); }), "(4, 3) and (4, 3)"));
  CHECK(contains(message_of<shape_error>([&] { a + a.T(); }), "(4, 3) and (3, 4)"));
  CHECK(contains(message_of<shape_error>([&] { a* zeros({2, 3}); }), "does not broadcast"));
  CHECK(contains(message_of<shape_error>([&] { a.dot(zeros(3), {.y = zeros(3)}); }), "y has shape (3,)"));
  CHECK(contains(message_of<dtype_error>([&] { a.astype(int64).dot(zeros(3, int64), {.alpha = 2}); }), "alpha"));
  CHECK(contains(message_of<value_error>([&] { static_cast<void>(a == 0); }), "every place"));
  CHECK(contains(message_of<value_error>([&] { a.power(0); }), "exponent"));
  CHECK(contains(message_of<value_error>([&] { a.asformat("bsr"); }), "bsr"));
  CHECK(contains(message_of<index_error>([&] { a(4); }), "index 4 is out of range for extent 4"));
  CHECK(contains(message_of<index_error>([&] { a(array({0, -5})); }), "-5"));
  CHECK(contains(message_of<index_error>([&] { a.at(0, 3); }), "extent 3"));
  CHECK(contains(message_of<value_error>([&] { sparse::vstack({}); }), "no arrays"));
  CHECK(contains(message_of<shape_error>([&] { sparse::vstack({a, a.T()}); }), "does not fit"));
  CHECK(contains(message_of<value_error>([&] { sparse_array().nnz(); }), "undefined"));
  CHECK(contains(message_of<value_error>([&] { a.tocoo().indptr(); }), "row and col"));
}

TEST_CASE("sparse: builders") {
  CHECK(array_equal(sparse::eye(3, 5, 1).toarray(), eye(3, 5, {.k = 1})));
  CHECK(array_equal(sparse::eye(5, 3, -2, {.format = sparse::format::csc}).toarray(), eye(5, 3, {.k = -2})));
  CHECK(array_equal(sparse::eye(2, 2, 7).toarray(), zeros({2, 2})));
  CHECK(sparse::identity(4, {.dtype = float32}).dtype() == float32);
  const ndarray rows = array({{1.0, 2, 3, 4}, {5, 6, 7, 8}});
  const ndarray expected = array({{1.0, 6, 0, 0}, {0, 2, 7, 0}, {0, 0, 3, 8}});
  CHECK(array_equal(sparse::spdiags(rows, {0, 1}, 3, 4).toarray(), expected));
  CHECK(array_equal(sparse::dia_array(rows, array({0, 1}), {3, 4}).toarray(), expected));
  CHECK(array_equal(sparse::diags({array({1, 2}), array({7})}, {-1, 1}, shape_t{3, 3}).toarray(),
                    array({{0, 7, 0}, {1, 0, 7}, {0, 2, 0}})));
  const sparse_array r = random_entries(50, 30, 0.3);
  CHECK(r.nnz() == 450);
  CHECK(r.has_canonical_format());
  CHECK(random_entries(10, 10, 0.9).nnz() == 90);
  CHECK(r.max().item<double>() < 1);
}

TEST_CASE("sparse: text as SciPy's") {
  std::ostringstream out;
  out << csr_array(small_matrix())(slice(0, 2), _);
  CHECK(out.str() ==
        "<Compressed Sparse Row sparse array of dtype 'float64'\n\twith 3 stored elements and shape (2, 3)>\n"
        "  Coords\tValues\n  (0, 0)\t1.0\n  (0, 2)\t2.0\n  (1, 2)\t3.0");
  const std::string many = to_string(sparse::identity(60).tocoo());
  CHECK(contains(many, "COOrdinate"));
  CHECK(contains(many, "  (24, 24)\t1.0\n  :\t:\n  (35, 35)\t1.0"));
}

TEST_CASE("sparse: files that SciPy reads, and there and back") {
  const sinter_test::scratch_folder folder;
  const sparse_array a = csr_array(small_matrix().astype(complex64));
  for (const char* format : {"csr", "csc", "coo"}) {
    const std::string path = folder / (std::string(format) + ".npz");
    try {
      sparse::save_npz(path, a.asformat(format));
    } catch (const io_error& e) {
      MESSAGE("left out: " << e.what());
      return;
    }
    const sparse_array back = sparse::load_npz(path);
    CHECK(sparse::name(back.format()) == format);
    CHECK(back.dtype() == complex64);
    CHECK(array_equal(back.toarray(), a.toarray()));
  }
  savez(folder / "bad.npz", {{"data", array({1.0})}, {"indices", array({5})}, {"shape", array({1, 1})}});
  CHECK(contains(message_of<io_error>([&] { sparse::load_npz(folder / "bad.npz"); }), "no format"));
}
