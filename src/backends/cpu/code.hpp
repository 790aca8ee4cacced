// Block functions: a program variant, interpreted while it is cold, compiled by the host compiler when it is hot.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/block.hpp"

namespace sinter::cpu {

/// One program variant, alive for the whole process.
class block_code {
 public:
  block_code(jit::program p, jit::block_variant v);

  /// Runs one block. `reduced`: lanes of each finished reduction (epilogues), placed behind the inputs in `args` too.
  void run(jit::block_args& args, const void* const* reduced, void* scratch) const;
  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  /// Notes work to come; returns whether it is time to compile.
  bool wants_compilation(std::uint64_t lanes) noexcept;
  bool is_compiled() const noexcept { return function_.load(std::memory_order_relaxed) != nullptr; }
  std::string source(const std::string& function) const;
  const jit::program& code() const noexcept { return program_; }

 private:
  friend void compile_blocks(std::span<block_code* const> codes);
  enum class state : int { cold, compiling, ready };

  jit::program program_;
  jit::block_variant variant_;
  std::size_t scratch_bytes_;
  std::vector<jit::block_op> operations_;
  std::atomic<jit::block_function> function_{nullptr};
  std::atomic<state> state_{state::cold};
  std::atomic<std::uint64_t> work_{0};
};

/// The code of a variant, made on first use and never destroyed. Thread safe.
block_code& find_code(const jit::program& p, const jit::block_variant& v);

/// Compiles what is not compiled yet as one translation unit. Without a host compiler it does nothing; throws
/// compile_error where the compiler refuses the text.
void compile_blocks(std::span<block_code* const> codes);

}  // namespace sinter::cpu
