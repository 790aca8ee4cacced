// Products in a capture.
#pragma once
#include <functional>

#include "backends/cpu/linalg/products.hpp"

namespace sinter::cpu {

/// Products that are handed on as calls, which compute them later.
class recorded_products final : public runtime::products {
 public:
  using taker = std::function<void(std::function<void()>)>;
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
    take_(product_again(of_, l, a, b, c));
  }

 private:
  runtime::products& of_;
  taker take_;
};

}  // namespace sinter::cpu
