// What CUDA reductions share: accumulators, how those of several threads are joined, and what becomes of a result.
#pragma once
#include <string>
#include <string_view>

#include "jit/cuda/emit_kernel.hpp"

namespace sinter::jit::cuda {

/// The accumulator type of reduction j, and its result as a register, given an accumulator.
std::string accumulator(const program& p, int j);
std::string result_of(const program& p, int j, const std::string& accumulator);

class reduction_writer : protected kernel_writer {
 protected:
  /// `results`: how many a thread has, numbered `v`.
  reduction_writer(const program& p, const cuda_variant& v, int results)
      : kernel_writer(p, v), results_(results), several_(results > 1 ? "[v]" : ""), ordered_(is_ordered(p)) {}

  /// All up to the kernel's head: `struct accs`, the phases, and `finish(a, row, accs)`, which runs the epilogue and
  /// stores.
  void open_reduction(std::initializer_list<const phase*> phases);
  /// Declares the accumulators `acc` of the results of a thread.
  void declare_accumulators();
  /// A statement for each result of a thread, which is number `v`.
  void each_result(const std::string& statement);
  /// Steps of the accumulators by the x<register> of `lanes` elements from r0 on.
  void accumulate(const std::string& acc, int lanes);
  /// Where the elements of a last group that is shorter go: to accumulators of their own, which begin_last() declares and
  /// join_last() joins to `acc`, unless the order does not matter.
  std::string last() const { return ordered_ ? "last" : "acc"; }
  void begin_last();
  void join_last();
  /// Joins an accumulator of each reduction by a function of the prelude.
  void join_each(std::string_view function, const std::string& acc, std::string_view with = "shared");
  /// The same for all at once, as far as `shared` holds them: each thread has cuda_partial_bytes of it.
  void join_rows();
  /// Stores a result, or what a split has of it.
  void leave(const std::string& result, const std::string& acc);
  /// The epilogue of a result at the coordinates k<j>, which is number `row`: its registers are in `out`.
  void run_epilogue(const std::string& acc, const text_of& place = {});
  /// The kernel that joins the splits.
  void second_stage();

  int reductions() const { return static_cast<int>(p_.reductions.size()); }

  int results_;
  std::string several_;  // index of a thread's result, if it has several

 private:
  static bool is_ordered(const program& p);
  std::string result_in_row(int j, const std::string& acc) const;
  void define_accumulators();
  void define_finish();
  void define_partials();
  void merge_splits(int first_byte, int bytes);

  bool ordered_;  // whether the order of the elements matters
  phase epilogue_;
};

}  // namespace sinter::jit::cuda
