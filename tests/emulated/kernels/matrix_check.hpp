// The kernels that search for elements that are not finite and for failures, as host functions for the emulator.
#pragma once

namespace emulated {

/// `parts` numbers an element; triangle 0: all, 1: lower, 2: upper.
struct numbers {
  long long rows, columns, count;
  int parts, triangle;
};

void clear_small(const numbers& m, double* all, int* flags, int* exponents);
void flag_columns(const numbers& m, const double* all, int* flags);
void clear_columns(const numbers& m, double* all, const int* flags);
void mark(const int* flags, long long count, int value, int* info);
void mark_and_scale(const int* flags, long long count, int value, int* info, const int* exponents, double* values,
                    int each);
void find_first(const int* numbers, long long count, long long* found);

}  // namespace emulated
