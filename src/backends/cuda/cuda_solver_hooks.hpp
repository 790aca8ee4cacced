// What tests and measurements may ask of the factorisations on GPUs.
#pragma once
#include <string>

namespace sinter::cuda {

/// What stands in the way of factorisations on any GPU: a library that cannot be opened or lacks a function; empty if
/// nothing does.
std::string why_no_solver_libraries();

/// How single matrices are decomposed where singular vectors are wanted.
enum class svd_method { chosen, by_qr, by_polar };
void set_svd_method(svd_method m) noexcept;

/// How many small Hermitian matrices are decomposed: by Jacobi's method where they are small enough, or never by it.
enum class eigh_method { chosen, by_batches };
void set_eigh_method(eigh_method m) noexcept;

}  // namespace sinter::cuda
