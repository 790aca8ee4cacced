// src/backends/cpu/sparse: sparse matrices on the CPU: products, and the order of entries.
#pragma once
#include "runtime/algorithms/sparse.hpp"

namespace sinter::cpu {

class cpu_sparse final : public runtime::sparse {
 public:
  bool multiplies_transposed() const override { return true; }
  std::size_t multiply_scratch(const runtime::sparse_matrix& a, const runtime::sparse_product& p) const override;
  void multiply(const runtime::sparse_matrix& a, const runtime::sparse_product& p, void* result,
                void* scratch) override;

  bool arranges() const override { return true; }
  void group(const runtime::sparse_entries& e, std::int64_t majors, void* indptr, void* indices, void* data) override;
  void sort_rows(const runtime::sparse_matrix& a, std::size_t bytes, void* indices, void* data) override;
  runtime::sparse_defect find_defect(const runtime::sparse_matrix& a) const override;
  int order(const runtime::sparse_matrix& a) const override;
  std::int64_t join_equal(const runtime::sparse_matrix& a, void* indices, void* data, void* indptr) override;
  void copy_rows(const runtime::sparse_matrix& a, std::size_t bytes, const std::int64_t* rows, std::int64_t count,
                 const std::int64_t* indptr, void* indices, void* data) override;
  std::int64_t count_copies(const runtime::sparse_matrix& a, const std::int64_t* rows, std::int64_t count,
                            std::int64_t* indptr) override;
  void lay_diagonals(std::span<const std::int64_t> offsets, std::span<const std::int64_t> starts, const void* elements,
                     std::size_t bytes, const runtime::sparse_matrix& extents, void* indptr, void* indices,
                     void* data) override;
  void spread(const runtime::sparse_matrix& a, std::size_t bytes, bool transposed, void* result) override;
  void add_to_dense(const runtime::sparse_matrix& a, bool transposed, const void* x, void* result) override;
  void elements_at(const runtime::sparse_matrix& a, std::size_t bytes, const std::int64_t* rows,
                   const std::int64_t* columns, std::int64_t count, void* result) override;
  void extremes(const runtime::sparse_matrix& a, bool transposed, bool largest, void* result,
                std::int64_t* counts) override;
  std::int64_t count_product(const runtime::sparse_matrix& a, const runtime::sparse_matrix& b,
                             std::int64_t* indptr) override;
  void fill_product(const runtime::sparse_matrix& a, const runtime::sparse_matrix& b, const std::int64_t* indptr,
                    void* indices, void* data) override;
  std::int64_t count_merged(const runtime::sparse_matrix& a, const runtime::sparse_matrix& b, bool common,
                            std::int64_t* indptr) override;
  void fill_merged(const runtime::sparse_matrix& a, const runtime::sparse_matrix& b, bool common,
                   const std::int64_t* indptr, void* indices, std::size_t bytes_a, void* of_a, std::size_t bytes_b,
                   void* of_b) override;
  bool combines(runtime::sparse_pairing p, dtype t) const override;
  std::int64_t combine(runtime::sparse_pairing p, const runtime::sparse_matrix& a, const runtime::sparse_matrix& b,
                       void* indptr, void* indices, void* data) override;
  std::int64_t keep(const runtime::sparse_matrix& a, std::size_t bytes, const std::uint8_t* mask, void* indptr,
                    void* indices, void* data) override;
  std::int64_t place(const runtime::sparse_matrix& a, std::size_t bytes, const void* places, void* indptr,
                     void* indices, void* data) override;
  void join_columns(std::span<const runtime::sparse_matrix> all, std::span<const std::int64_t> shifts,
                    std::size_t bytes, void* indptr, void* indices, void* data) override;
  bool ends_of_ascending(dtype index, const void* coordinates, std::int64_t count, std::int64_t majors,
                         void* indptr) override;
  void diagonal(const runtime::sparse_matrix& a, std::int64_t first, std::int64_t shift, std::int64_t length,
                void* sums) override;
  std::int64_t count_chosen(const runtime::sparse_matrix& a, const std::int64_t* starts, std::int64_t* indptr) override;
  void fill_chosen(const runtime::sparse_matrix& a, std::size_t bytes, const std::int64_t* starts,
                   const std::int64_t* places, const std::int64_t* indptr, void* indices, void* data) override;
};

}  // namespace sinter::cpu
