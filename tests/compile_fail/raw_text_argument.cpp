// expect: constraints not satisfied|no match for call|no matching function
// A kernel takes arrays, numbers, device addresses and plain structs: a string is none of them.
#include <sinter/raw_kernel.hpp>
#include <string>
void f(sinter::raw_kernel k, std::string s) { k({.grid = 1, .block = 32}, s); }
