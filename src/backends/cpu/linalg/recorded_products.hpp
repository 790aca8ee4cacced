// Products in a capture.
#pragma once
#include <functional>

#include "backends/cpu/kernels/step_memory.hpp"
#include "backends/cpu/linalg/products.hpp"

namespace sinter::cpu {

/// Products that are handed on as calls, which compute them later.
class recorded_products final : public runtime::products {
 public:
  using taker = std::function<void(std::function<void()>, step_memory)>;
  recorded_products(runtime::products& of, taker take) : of_(of), take_(std::move(take)) {}
  bool reads(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
             std::int64_t column_stride) const override {
    return of_.reads(type, rows, columns, row_stride, column_stride);
  }
  bool writes(dtype type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
              std::int64_t column_stride) const override {
    return of_.writes(type, rows, columns, row_stride, column_stride);
  }
  void multiply(const runtime::product_layout& l, const void* a, const void* b, void* c) override {
    take_(product_again(of_, l, a, b, c), {{matrix(l, a, l.a, l.rows, l.inner), matrix(l, b, l.b, l.inner, l.columns)},
                                           {matrix(l, c, l.c, l.rows, l.columns)},
                                           true,
                                           true});
  }

 private:
  /// From the first to the last element of the matrices of a batch.
  static runtime::unchanged_memory matrix(const runtime::product_layout& l, const void* base,
                                          const runtime::matrix_strides& s, std::int64_t rows, std::int64_t columns) {
    std::int64_t first = 0, last = 0;
    const auto along = [&](std::int64_t extent, std::int64_t stride) {
      (stride < 0 ? first : last) += (extent - 1) * stride;
    };
    along(rows, s.row);
    along(columns, s.column);
    for (int a = 0; a < l.batch.size(); ++a) along(l.batch[a], s.batch[a]);
    const auto size = static_cast<std::int64_t>(itemsize(l.type));
    return {static_cast<const char*>(base) + first * size, static_cast<std::size_t>((last - first + 1) * size)};
  }

  runtime::products& of_;
  taker take_;
};

}  // namespace sinter::cpu
