// Work that is launched again and again, captured once: CUDA graphs.
//
//   const ndarray u = start_field(n);
//   const sn::launch_graph step = sn::capture([&] { u["1:-1, 1:-1"] += rate * laplacian(u); });
//   for (int k = 0; k < steps; ++k) step.launch();
//
// capture calls the function once. What it evaluates is planned and compiled, and its kernels and copies are captured
// instead of being run. A launch then runs all of them by one call of the driver, without recording, planning or
// launching them again, so loops of small kernels run at the speed of the device and not of the host.
#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "sinter/device.hpp"
#include "sinter/stream.hpp"

namespace sinter::graph {
class replay;
}

namespace sinter::inline v0 {

class launch_graph;
namespace detail {
launch_graph capture_calls(const stream& s, void (*call)(void*), void* f);
}

/// Captured work; a handle: copies are the same graph.
///
/// A launch does to arrays what calling the function again would do:
///  - an array from before the capture that the function writes in place (`u[...] = e`, `u += e`, a kernel's output)
///    gets its new elements in its own memory, computed from the elements that it has when the graph is launched;
///  - an array that the function reads is read as it is when the graph is launched: change its elements in place
///    (`x[...] = e`) between launches as you like. The numbers in expressions are those of the capture;
///  - an array that was made in the function and is still held keeps its memory, and gets new elements in every launch.
///    Before the first launch its elements are unspecified.
/// Assigning another array to a name is the host's work and happens once, during the capture. Arrays that the graph
/// uses are pinned, as by data(): their memory stays, writes and reads of them happen at once.
///
/// The graph holds the arrays from before and all memory that it needs. Launches are ordered among each other and with
/// everything else that works on these arrays, on whatever stream.
class launch_graph {
 public:
  /// No graph; using it throws value_error.
  launch_graph() = default;
  bool defined() const noexcept { return replay_ != nullptr; }
  /// Enqueues everything on the stream (default: the current one of the graph's device) and returns. Data errors show at
  /// the next synchronisation, once. device_error for a stream of another device.
  void launch() const;
  void launch(const stream& s) const;

  sinter::device device() const;
  /// Kernels and copies.
  std::size_t size() const;
  /// Memory in bytes that the graph itself holds, for what the function computes on the way and for arrays made in it.
  std::size_t nbytes() const;

 private:
  friend launch_graph detail::capture_calls(const stream&, void (*)(void*), void*);
  explicit launch_graph(std::shared_ptr<graph::replay> r) noexcept : replay_(std::move(r)) {}
  std::shared_ptr<graph::replay> replay_;
};

/// Captures what f() does on the stream's device. Arrays that f uses and that are still pending are evaluated first,
/// outside of the graph; what is pending at the end of f, of arrays that f has made or written, belongs to the graph.
/// Nothing that belongs to the graph runs before the first launch: arrays have their old elements afterwards.
///
/// What a graph cannot hold throws device_error, which names it, and so does capture: reading elements on the host
/// (item, to_vector, printing, masks whose size depends on data), waiting, another stream or device, launching another
/// graph, and on the CPU everything but expressions, copies and products of matrices (sorting, scans). Whatever f throws
/// is passed on. Then arrays from before the capture have their old elements, those that f has made are as from
/// sn::empty, and the stream can be used as before.
///
/// Threads may capture concurrently. For what other threads may do meanwhile, a capture writes every array that it
/// uses, also those that it only reads; an array that another thread's capture is using is refused (device_error).
template <std::invocable F>
launch_graph capture(const stream& s, F&& f) {
  using callable = std::remove_reference_t<F>;
  if constexpr (std::is_function_v<callable>) return capture(s, &f);
  else
    return detail::capture_calls(
        s, [](void* g) { (void)(*static_cast<callable*>(g))(); }, const_cast<void*>(static_cast<const void*>(&f)));
}
/// On the current stream of the default device.
template <std::invocable F>
launch_graph capture(F&& f) {
  return capture(current_stream(), std::forward<F>(f));
}

}  // namespace sinter::inline v0
