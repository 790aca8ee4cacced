#include "ops/sparse_linalg/steps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/sparse_linalg/step_numbers.hpp"
#include "sinter/creation.hpp"

namespace sinter::ops {

namespace {

#define SINTER_NUMBER_TEXT(...) constexpr const char* text_of_numbers = #__VA_ARGS__;
#include "ops/sparse_linalg/number_steps.inl"
#undef SINTER_NUMBER_TEXT

template <class Numbers, void (*F)(Numbers&, double, double)>
void advance_as(double* k, double a, double b) {
  F(*reinterpret_cast<Numbers*>(k), a, b);
}
template <class Numbers, void (*F)(Numbers&, double)>
void test_as(double* k, double c) {
  F(*reinterpret_cast<Numbers*>(k), c);
}

/// Statements that read the numbers into `k`, and change them.
std::string text_of_step(const number_program& p) {
  const std::string type = p.name;
  return type +
         " k; double* const p = (double*)&k;\n"
         "for (int j = 0; j < " +
         std::to_string(p.count) +
         "; ++j) p[j] = old[j];\n"
         "if (mode & 1) " +
         type +
         "_test(k, c[0]);\n"
         "if (mode & 2) " +
         type + "_advance(k, a[0], b[0]);\n";
}
std::string text_of_writes(const number_program& p) {
  return "for (int j = 0; j < " + std::to_string(p.count) + "; ++j) now[j] = p[j];\n";
}

constexpr const char* number_inputs = "raw float64 old, raw float64 a, raw float64 b, raw float64 c, int32 mode";

/// A kernel of one thread that runs the text's functions on numbers in memory.
elementwise_kernel kernel_of(const number_program& p) {
  return {number_inputs, "raw float64 now", text_of_step(p) + text_of_writes(p), p.name, {.preamble = text_of_numbers}};
}
/// A kernel for each element of vectors. All threads compute the same numbers, which takes no longer than one that does.
elementwise_kernel kernel_of(const number_program& p, const vectors_text& v) {
  const std::string before = text_of_step(p) + v.factors;
  return {std::string(number_inputs) + ", " + v.inputs,
          std::string("raw float64 now, ") + v.outputs,
          std::string(v.body) + "\nif (i == 0) { " + text_of_writes(p) + "}",
          std::string(p.name) + "_vectors",
          {.preamble = text_of_numbers, .loop_prep = before}};
}

}  // namespace

#define SINTER_PROGRAM(NAME) \
  { #NAME, sizeof(NAME) / sizeof(double), &advance_as < NAME, &NAME##_advance>, &test_as < NAME, &NAME##_test> }
const number_program lsmr_program = SINTER_PROGRAM(lsmr_numbers);
const number_program lsqr_program = SINTER_PROGRAM(lsqr_numbers);
const number_program minres_program = SINTER_PROGRAM(minres_numbers);
#undef SINTER_PROGRAM

number_steps::number_steps(const number_program& program, const double* initial, const device& on, bool late,
                           const vectors_text* vectors)
    : program_(program), late_(late), now_(array(initial, {program.count}, {.device = on})) {
  if (late_) kernel_.emplace(kernel_of(program));
  if (vectors) with_vectors_.emplace(kernel_of(program, *vectors));
}

ndarray number_steps::unset() const { return empty({program_.count}, {.dtype = float64, .device = now_.device()}); }

void number_steps::run(int mode, const ndarray& a, const ndarray& b, const ndarray& c) {
  if (late_) {
    const ndarray next = unset();
    kernel_->call(now_, a, b, c, mode, {.size = 1, .out = {next}});
    now_ = next;
    return;
  }
  std::vector<double> k = now_.to_vector<double>();
  if (mode & 1) program_.test(k.data(), c.item<double>());
  if (mode & 2) program_.advance(k.data(), a.item<double>(), b.item<double>());
  now_ = array(k.data(), {program_.count}, {.device = now_.device()});
}

void number_steps::advance(const ndarray& a, const ndarray& b) {
  run(untested_.defined() ? 3 : 2, a, b, untested_.defined() ? untested_ : a);
  untested_ = ndarray();
}

std::vector<ndarray> number_steps::advance(const ndarray& a, const ndarray& b, std::span<const ndarray> v) {
  const bool tests = untested_.defined();
  const ndarray next = unset(), c = tests ? untested_ : a;
  const int mode = tests ? 3 : 2;
  untested_ = ndarray();
  std::vector<ndarray> out =
      v.size() == 3 ? with_vectors_->call(now_, a, b, c, mode, v[0], v[1], v[2], {.out = {next, {}, {}, {}}})
                    : with_vectors_->call(now_, a, b, c, mode, v[0], v[1], v[2], v[3], {.out = {next, {}, {}, {}}});
  now_ = next;
  out.erase(out.begin());
  return out;
}

void number_steps::test(const ndarray& c) {
  if (late_) untested_ = c;
  else run(1, c, c, c);
}

void number_steps::read(double* numbers) {
  if (untested_.defined()) run(1, untested_, untested_, untested_);
  untested_ = ndarray();
  const std::vector<double> k = now_.to_vector<double>();
  std::copy(k.begin(), k.end(), numbers);
}

}  // namespace sinter::ops
