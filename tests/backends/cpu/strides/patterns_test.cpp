// Operands whose lanes generated code reads and writes by a pattern: elements a stride apart, numbers that repeat, coordinates that count,
// bytes that are shifted. Results are those of operands in memory, at the ends of rows and of memory as well.
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "sinter/interop.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

/// Both compiled; the other one has what it reads in memory, one element after the other, or calculates in 64 bits.
void check(const std::function<ndarray()>& f, const std::function<ndarray()>& other) {
  const kernels_of now(cpu::tier::compiled);
  ndarray x = f(), y = other();
  eval(x);
  eval(y);
  CHECK(x.dtype() == y.dtype());
  CHECK(array_equal(x, y));
}

ndarray dense(const ndarray& x) {
  const ndarray at = arange(x.size(), {.dtype = int64, .device = device("cpu")});
  eval(at);
  ndarray y = reshape(take(reshape(x, {-1}), at), x.shape());
  eval(y);
  return y;
}

ndarray count(std::int64_t n) { return arange(n, {.dtype = int64, .device = device("cpu")}); }

ndarray numbers(std::int64_t n, dtype type) {
  ndarray x = (count(n) * 37 % 101 - (type == uint8 || type == uint16 || type == uint32 ? 0 : 50)).astype(type);
  eval(x);
  return x;
}

const std::vector<dtype> types{uint8, int8, bool_, int16, uint16, int32, float32, int64, float64};

}  // namespace

TEST_CASE("generated code reads elements that lie a stride apart, up to the last one in memory") {
  for (const dtype t : types)
    for (const std::int64_t step : {2, 3, 4, 5, 8, -1, -2, -3, -4})
      for (const std::int64_t lanes : {8192, 8200, 9001}) {
        CAPTURE(name(t));
        CAPTURE(step);
        CAPTURE(lanes);
        const std::int64_t size = step < 0 ? -step : step;
        const ndarray x = numbers((lanes - 1) * size + 1, t), y = numbers(lanes, t);
        check([&] { return maximum(x(slice(_, _, step)), y); },
              [&] { return maximum(dense(x(slice(_, _, step))), y); });
      }
}

// On either side of the elements there is no memory.
TEST_CASE("nothing is read before the first element or behind the last one") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), pages = 32 * page;
  char* const memory =
      static_cast<char*>(mmap(nullptr, pages + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory, page, PROT_NONE) == 0);
  REQUIRE(mprotect(memory + page + pages, page, PROT_NONE) == 0);
  std::memset(memory + page, 1, pages);
  for (const dtype t : {uint8, int16, float32, float64}) {
    CAPTURE(name(t));
    const auto most = static_cast<std::int64_t>(pages / itemsize(t));
    for (const std::int64_t step : {-4, -3, -2, -1, 2, 3})
      for (const std::int64_t left_out : {0, 1, 5}) {
        CAPTURE(step);
        // To the end of the memory, or from its begin on.
        for (const bool at_end : {false, true}) {
          char* const first = memory + page + (at_end ? static_cast<std::size_t>(left_out) * itemsize(t) : 0);
          const ndarray x = from_pointer(first, {most - left_out}, t, {.device = "cpu", .immutable = true});
          const ndarray apart = x(slice(_, _, step)), y = numbers(apart.size(), t);
          check([&] { return maximum(apart, y); }, [&] { return maximum(dense(apart), y); });
          // Reductions pad what is left of a row, where other kernels compute some lanes again.
          check([&] { return sum(maximum(apart, y)); }, [&] { return sum(maximum(dense(apart), y)); });
        }
        const ndarray all = from_pointer(memory + page, {most / 8, 8}, t, {.device = "cpu", .immutable = true});
        for (const ndarray& some : {all(_, slice(_, 3)), all(_, slice(5, _)), all(_, slice(_, 4, -1)),
                                    all(slice(_, most / 8 - 5), slice(2, 5))}) {
          const ndarray y = reshape(numbers(some.size(), t), some.shape());
          check([&] { return sum(maximum(some, y), 1); }, [&] { return sum(maximum(dense(some), y), 1); });
          check([&] { return maximum(some, y); }, [&] { return maximum(dense(some), y); });
        }
      }
  }
  munmap(memory, pages + 2 * page);
}

// All of what lies in the same records is read at once, up to the last of them in memory, behind which there is none.
TEST_CASE("operands of the same records are those of each of them alone") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), pages = 128 * page;
  char* const memory =
      static_cast<char*>(mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + pages, page, PROT_NONE) == 0);
  for (std::size_t k = 0; k < pages; ++k) memory[k] = static_cast<char>(k * 2654435761u >> 20 & 1);
  const std::vector<std::vector<int>> all_members{
      {0, 1}, {1, 0}, {0, 1, 2, 3}, {3, 1, 0}, {1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {6, 1, 4, 2}};
  for (const dtype t : {uint8, int16, bool_, int32, int64})
    for (const int size : {2, 4, 8})
      for (const std::vector<int>& members : all_members)
        for (const std::int64_t lanes : {8192, 8199, 9001}) {
          if (*std::max_element(members.begin(), members.end()) >= size) continue;
          CAPTURE(name(t));
          CAPTURE(size);
          CAPTURE(members.size());
          CAPTURE(lanes);
          // The last member of the last record is the last element in memory.
          const int last = *std::max_element(members.begin(), members.end());
          const std::int64_t n = (lanes - 1) * size + last + 1;
          const auto bytes = static_cast<std::size_t>(n) * itemsize(t);
          if (bytes > pages) continue;
          const ndarray x = from_pointer(memory + pages - bytes, {n}, t, {.device = "cpu", .immutable = true});
          const auto joined = [&](bool apart) {
            ndarray out;
            for (std::size_t k = 0; k < members.size(); ++k) {
              const ndarray member = x(slice(members[k], _, size));
              const ndarray one = apart ? member : dense(member);
              out = k == 0 ? one : t == bool_ ? out ^ one : k % 2 ? out + one * 3 : out * 2 - one;
            }
            return out;
          };
          check([&] { return joined(true); }, [&] { return joined(false); });
        }
  munmap(memory, pages + page);
  // Of rows with ends, read by a reduction, and beside what is no member.
  const ndarray p = reshape(numbers(40 * 260 * 4, uint8), {40, 260, 4}), y = numbers(40 * 260, int16);
  const auto of_pixels = [&](const ndarray& r, const ndarray& g, const ndarray& b) {
    return r.astype(int32) * 3 + g * 5 - b + reshape(y, {40, 260});
  };
  const ndarray r = p(_, _, 0), g = p(_, _, 1), b = p(_, _, 3);
  check([&] { return of_pixels(r, g, b); }, [&] { return of_pixels(dense(r), dense(g), dense(b)); });
  check([&] { return sum(of_pixels(r, g, b), 1); }, [&] { return sum(of_pixels(dense(r), dense(g), dense(b)), 1); });
  const ndarray some = p(slice(_, _, 3), slice(5, 250), _);
  const auto of_some = [&](bool apart) {
    const ndarray c = apart ? some : dense(some);
    return (c(_, _, 0) & c(_, _, 1)) | (c(_, _, 2) ^ c(_, _, 3));
  };
  check([&] { return of_some(true); }, [&] { return of_some(false); });
}

TEST_CASE("code takes records apart where several operands lie in them") {
  const kernels_of now(cpu::tier::compiled);
  const ndarray x = reshape(numbers(1 << 16, uint8), {-1, 4});
  const std::string text = explain(x(_, 0) + x(_, 1) * x(_, 3), {.source = true});
  CHECK(text.find("sn::load_records<4, 3, 64>") != std::string::npos);
  const ndarray f = numbers(1 << 16, float32);  // one shuffle each
  CHECK(explain(f(slice(_, _, 2)) + f(slice(1, _, 2)), {.source = true}).find("sn::load_records<2") ==
        std::string::npos);
}

TEST_CASE("operands apart of several dtypes, of rows with ends, beside each other in one loop") {
  const ndarray x = numbers(40 * 1003, int16), y = numbers(40 * 1003, float64), z = numbers(40 * 501, uint8);
  const auto rows = [](const ndarray& a) { return reshape(a, {40, -1}); };
  check([&] { return rows(x)(_, slice(1, 1002, 2)) + rows(y)(_, slice(_, 501)) * rows(z); },
        [&] { return dense(rows(x)(_, slice(1, 1002, 2))) + dense(rows(y)(_, slice(_, 501))) * rows(z); });
  check([&] { return rows(x)(_, slice(2, _, 2)) - rows(x)(_, slice(1001, _, -2)); },
        [&] { return dense(rows(x)(_, slice(2, _, 2))) - dense(rows(x)(_, slice(1001, _, -2))); });
  const ndarray p = reshape(numbers(9001 * 3, uint8), {-1, 3});
  const ndarray red = dense(p(_, 0)), green = dense(p(_, 1)), blue = dense(p(_, 2));
  const auto packed = [](const ndarray& r, const ndarray& g, const ndarray& b) {
    return (r.astype(uint32) << 16) | (g.astype(uint32) << 8) | b.astype(uint32);
  };
  check([&] { return packed(p(_, 0), p(_, 1), p(_, 2)); }, [&] { return packed(red, green, blue); });
  check([&] { return (p(_, 0) * 0.5f + p(_, 2)).astype(uint8); }, [&] { return (red * 0.5f + blue).astype(uint8); });
}

TEST_CASE("rows of three beside elements a stride apart and numbers that repeat, up to a last vector of neither") {
  for (const dtype t : {uint8, int16, int32, float64})
    for (const std::int64_t n : {3000, 3001, 4099, 2736}) {
      CAPTURE(name(t));
      CAPTURE(n);
      const ndarray rows = reshape(numbers(n * 4, t), {n, 4})(_, slice(_, 3));
      for (const std::int64_t step : {2, 3, 4, -1}) {
        const ndarray other = reshape(numbers((step < 0 ? 1 : step) * 3 * n, t)(slice(_, _, step)), {n, 3});
        check([&] { return maximum(rows, other); }, [&] { return maximum(dense(rows), dense(other)); });
      }
      const ndarray wide = reshape(numbers(n * 16, t), {n, 16})(_, slice(_, 12));
      const ndarray each = broadcast_to(numbers(3 * n, t)(_, newaxis), {3 * n, 4});
      check(
          [&] {
            return maximum(wide, reshape(each, {n, 12}));
          },
          [&] {
            return maximum(dense(wide), reshape(dense(each), {n, 12}));
          });
    }
}

TEST_CASE("generated code writes elements that lie a stride apart, and nothing between them") {
  for (const dtype t : types)
    for (const std::int64_t step : {2, 3, 4})
      for (const std::int64_t lanes : {8192, 8201}) {
        CAPTURE(name(t));
        CAPTURE(step);
        const ndarray x = numbers(lanes * step + 1, t), y = numbers(lanes, t);
        check(
            [&] {
              ndarray z = x.copy();
              z(slice(_, lanes * step, step)) = z(slice(1, lanes * step + 1, step));
              z(slice(step - 1, lanes * step, step)) = maximum(y, z(slice(step - 1, lanes * step, step)));
              return z;
            },
            [&] {
              const ndarray at = count(x.size()), row = minimum(floor_divide(at, step), lanes - 1), place = at % step;
              eval(at, row, place);
              const ndarray inside = at < lanes * step, next = dense(take(x, minimum(at + 1, lanes * step)));
              const ndarray changed = where(inside & (place == 0), next, x), value = dense(take(y, row));
              return where(inside & (place == step - 1), maximum(value, changed), changed);
            });
      }
}

TEST_CASE("numbers that repeat and coordinates that count are lanes of generated code") {
  for (const dtype t : types)
    for (const std::int64_t run : {2, 4, 8, 16})
      for (const std::int64_t rows : {4096, 4099}) {
        CAPTURE(name(t));
        CAPTURE(run);
        const ndarray x = numbers(rows, t), other = reshape(numbers(rows * run, t), {rows, run});
        const ndarray of = floor_divide(count(rows * run), run), k = count(rows * run) % run;
        eval(of, k);
        const ndarray each = reshape(take(x, of), {rows, run}), column = reshape(k, {rows, run});
        eval(each);
        check([&] { return maximum(x(_, newaxis), other); }, [&] { return maximum(each, other); });
        check([&] { return x(_, newaxis) + (count(run) + 3).astype(t); },
              [&] { return each + (column + 3).astype(t); });
      }
  const ndarray field = reshape(numbers(90 * 203, float32), {90, 203});
  const ndarray place = count(90 * 203), i = reshape(floor_divide(place, 203), {90, 203}),
                j = reshape(place % 203, {90, 203});
  eval(place, i, j);
  check([&] { return where(count(203) * 3 > count(90)(_, newaxis) * 5, field, -field); },
        [&] { return where(j * 3 > i * 5, field, -field); });
  check([&] { return count(90 * 203) * 7 + reshape(field, {-1})(slice(_, _, -1)).astype(int64); },
        [&] { return place * 7 + dense(reshape(field, {-1})(slice(_, _, -1))).astype(int64); });
}

TEST_CASE("bits of bytes by shifts of lanes and by numbers") {
  const ndarray x = numbers(8192 + 21, uint8) * 2 + 1;
  eval(x);
  const ndarray wide = x.astype(int64);
  const ndarray eight = dense(broadcast_to(count(8), {x.size(), 8})),
                long_bits = dense(broadcast_to(wide(_, newaxis), {x.size(), 8}));
  check([&] { return (x(_, newaxis) >> count(8).astype(uint8)) & 1; },
        [&] { return ((long_bits >> eight) & 1).astype(uint8); });
  check([&] { return ((x(_, newaxis) >> count(8)) & 1).astype(uint8); },
        [&] { return ((long_bits >> eight) & 1).astype(uint8); });
  check([&] { return ((x(_, newaxis) << count(8)) & 255).astype(uint8); },
        [&] { return ((long_bits << eight) & 255).astype(uint8); });
  check([&] { return ((x(_, newaxis) >> (count(8) * 9 - 4)) & 127).astype(uint8); },
        [&] { return ((long_bits >> (eight * 9 - 4)) & 127).astype(uint8); });
  for (const int by : {0, 1, 3, 7, 8, 9, 200}) {
    CAPTURE(by);
    const auto n = static_cast<std::uint8_t>(by);
    const std::int64_t far = by > 8 ? 8 : by;
    check([&] { return ((x & 0xf0) >> n) | (x << n); },
          [&] { return (((wide & 0xf0) >> far) | (wide << far)).astype(uint8); });
    check([&] { return where(x > 100, x >> n, x ^ 85) + (x << 2); },
          [&] { return (where(wide > 100, wide >> far, wide ^ 85) + (wide << 2)).astype(uint8); });
  }
}

TEST_CASE("quotients and remainders of lanes by a number are those of single divisions") {
  const auto from = [](std::int64_t low, std::int64_t high, dtype t) {
    const ndarray near = count(4001) - 2000;
    const ndarray all =
        concatenate({near + low, near + high, near, (count(30011) * 2654435761) % (high - low + 1) + low});
    ndarray x = clip(all, low, high).astype(t);
    eval(x);
    return x;
  };
  const std::vector<std::pair<dtype, std::pair<std::int64_t, std::int64_t>>> ranges{{int8, {-128, 127}},
                                                                                    {uint8, {0, 255}},
                                                                                    {int16, {-32768, 32767}},
                                                                                    {uint16, {0, 65535}},
                                                                                    {int32, {INT32_MIN, INT32_MAX}}};
  for (const auto& each : ranges) {
    const dtype t = each.first;
    const std::int64_t low = each.second.first, high = each.second.second;
    const ndarray x = from(low, high, t);
    std::vector<std::int64_t> by{0, 1, 2, 3, 5, 7, 10, 100, high, high - 1, high / 2, high / 2 + 1, high / 3};
    for (const std::int64_t n : std::vector<std::int64_t>(by))
      if (low < 0) by.push_back(-n);
    by.push_back(low);
    for (const std::int64_t n : by) {
      CAPTURE(name(t));
      CAPTURE(n);
      ndarray number = full({}, n, {.dtype = t, .device = device("cpu")});
      eval(number);
      const ndarray w = x.astype(int64);
      const std::int64_t m = n;
      check([&] { return floor_divide(x, number); }, [&] { return floor_divide(w, m).astype(t); });
      check([&] { return x % number; }, [&] { return (w % m).astype(t); });
      check([&] { return (x + 1) % number + floor_divide(x, number); },
            [&] { return ((w + 1).astype(t).astype(int64) % m + floor_divide(w, m)).astype(t); });
    }
  }
}
