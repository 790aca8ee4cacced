// Moving parts between the positions of a mesh, and a list of what has been moved.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "dist/shards.hpp"

namespace sinter::sharding {

/// One collective, for explain.
struct transfer {
  std::string what;        // "halo exchange", "all-gather", "redistribution", "all-reduce", "reduce-scatter"
  std::string of;          // "(8, 4) float32"
  std::int64_t bytes = 0;  // that all positions get from others
  std::string waits;       // what it waits for: "parts in memory", "kernels before it"
};

/// Positions, and what each of them wants of an array.
using wishes = std::vector<box>;
/// Several blocks for each position.
using wish_lists = std::vector<std::vector<box>>;

/// Bytes that positions would get from others, so that each has its box.
std::int64_t bytes_to_move(const mesh_state& m, const layout& how, const dims& shape, dtype type, const wishes& want);
wishes parts_under(const mesh_state& m, const layout& how, const dims& shape);

/// Makes transfers. Those between positions of one device are views; others copy what has been computed.
class mover {
 public:
  /// dry: nothing is evaluated or copied; what would come from other devices has no elements.
  mover(const mesh_state& m, bool dry) noexcept : mesh_(m), dry_(dry) {}

  /// For each position the pieces of its box. `what`: the collective's name, if it is not one of the usual ones.
  std::vector<pieces> fetch(const parts& from, const dims& shape, dtype type, const wishes& want,
                            const char* what = nullptr);
  /// For each position of this process its blocks behind each other along an axis: one collective for all. Blocks, of which some may
  /// be empty, differ along that axis only.
  std::vector<value> fetch_behind(const parts& from, const dims& shape, dtype type, const wish_lists& want, int axis);
  bool is_dry() const noexcept { return dry_; }
  /// For explain: what a transfer is that depends on data.
  void note(const char* what, const dims& shape, dtype type, std::int64_t bytes);
  const std::vector<transfer>& log() const noexcept { return log_; }

 private:
  struct mail;
  struct trip;
  void collect(const box& wanted, int p, trip& t);
  void finish(trip& t);
  void post(const parts& from, dtype type, int q, int p, const box& wanted, mail& out, pieces& to);
  void exchange(mail& m);
  void note(const parts& from, const dims& shape, dtype type, const wishes& want, std::int64_t bytes, const char* what);
  value copy_to(const value& v, int position);

  const mesh_state& mesh_;
  bool dry_;
  std::vector<transfer> log_;
};

/// The stream of a device on which what comes from other devices is enqueued, so that kernels which do not need it run beside
/// it: one for each device, besides those of its kernels, opened on the first call for the rest of the process. Who orders what is
/// buffers, as everywhere (runtime/stream.hpp):
///   - A copy from another device, or an exchange of NCCL, takes its memory in the order of this stream and is a submission
///     there: it comes after what computes its source, on the other device's stream, and after all that has used the memory before.
///   - A kernel that reads what has come waits for it. Kernels that are launched before do not: a flush declares the
///     uses of each launch when it comes to it.
///   - What overwrites the source on the other device, or gets its memory, waits for the copy.
/// device: one whose work is only enqueued.
runtime::stream& arrivals_of(runtime::backend& device);

}  // namespace sinter::sharding
