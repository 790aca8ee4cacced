// Block functions: a program variant, interpreted while it is cold, compiled by the host compiler when it is hot. Those
// that hold users' text are compiled before they first run.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/cpu/bound.hpp"

namespace sinter::cpu {

/// Code that the host compiler compiles; lives as long as the process.
class compiled_code {
 public:
  explicit compiled_code(bool must_compile) noexcept : must_compile_(must_compile) {}
  virtual ~compiled_code() = default;
  /// Whether it cannot run before it is compiled.
  bool must_compile() const noexcept { return must_compile_; }
  bool is_compiled() const noexcept { return state_.load(std::memory_order_acquire) == state::ready; }
  virtual std::string label() const = 0;
  virtual jit::cpu_definition definition(const std::string& name) const = 0;

 protected:
  enum class state : int { cold, compiling, ready };
  state current_state() const noexcept { return state_.load(std::memory_order_relaxed); }
  /// Whether the compiler itself has failed, so that the code is interpreted from now on.
  bool is_set_aside() const noexcept { return set_aside_.load(std::memory_order_relaxed); }

 private:
  friend void compile_blocks(std::span<compiled_code* const> codes);
  friend class compilation;
  /// The names that the translation unit gives to what is compiled.
  virtual std::vector<std::string> functions(const std::string& name) const = 0;
  virtual void install(std::span<void* const> addresses) noexcept = 0;

  const bool must_compile_;
  std::atomic<state> state_{state::cold};
  std::atomic<bool> set_aside_{false};
};

/// Lanes that take as long as so many elements: an interpreted operation takes as long over a few of them as over sixteen.
constexpr std::int64_t lanes_of_work(std::int64_t elements) noexcept {
  return elements > 0 && elements < 16 ? 16 : elements;
}

/// One program variant.
class block_code final : public compiled_code {
 public:
  block_code(jit::program p, jit::block_variant v);

  /// Runs one block. `reduced`: lanes of each finished reduction (epilogues), appended to the inputs in `args`, too.
  void run(jit::block_args& args, const void* const* reduced, void* scratch) const;
  /// Allocates what run() needs on the calling thread, so that run() does not fail there until other code runs.
  void make_ready() const;
  /// The same for arguments that lie where they lie; null where run() is to be called, as it is once the code is compiled.
  std::unique_ptr<jit::bound_program> bind(const jit::block_args& args) const;
  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  /// Whether run() takes more than block_lanes lanes: generated code whose operands lie in memory.
  bool takes_any_length() const noexcept { return any_length_ && function_.load(std::memory_order_acquire); }
  /// Whether run() takes lanes of float16 and bfloat16 as they lie in memory: generated code.
  bool takes_halves() const noexcept { return halves_ && function_.load(std::memory_order_acquire); }
  /// Whether run() may store where inputs lie that it reads lane by lane: generated code that is one loop.
  bool may_overwrite() const noexcept { return one_loop_ && function_.load(std::memory_order_acquire); }
  /// Whether run() takes several rows that lie in memory: generated code.
  bool takes_rows() const noexcept { return rows_ && function_.load(std::memory_order_acquire); }
  /// How operands lie where run() is told that they do (block_args::in_patterns).
  const std::string& patterns() const noexcept { return variant_.patterns; }
  bool has_patterns() const noexcept { return !variant_.patterns.empty(); }
  /// Counts upcoming work; returns whether it is time to compile.
  bool wants_compilation(std::uint64_t lanes) noexcept;
  /// Whether it has done so much that compiling it pays where other code is compiled anyway: most of the time is that of
  /// starting the compiler.
  bool is_worth_adding() const noexcept;
  std::string label() const override { return program_.label(); }
  jit::cpu_definition definition(const std::string& name) const override;

 private:
  std::vector<std::string> functions(const std::string& name) const override { return {name}; }
  void install(std::span<void* const> addresses) noexcept override;

  jit::program program_;
  jit::block_variant variant_;
  std::size_t scratch_bytes_;
  std::vector<jit::block_op> operations_;
  bool any_length_, one_loop_, halves_, rows_;
  std::atomic<jit::block_function> function_{nullptr};
  std::atomic<std::uint64_t> work_{0};
};

/// The code of a variant, made on first use and never destroyed. Thread safe.
block_code& find_code(const jit::program& p, const jit::block_variant& v);

/// Compiles what is not compiled yet as one translation unit, and waits for users' texts that another thread compiles.
/// Without a host compiler it does nothing, unless users' text must be compiled. Throws compile_error where the
/// compiler refuses a text; everything else is compiled all the same. Where the compiler itself fails (it hangs, cannot
/// write, makes no library) recorded expressions are interpreted, with one line on standard error for the process, and
/// users' text is a compile_error.
void compile_blocks(std::span<compiled_code* const> codes);

}  // namespace sinter::cpu
