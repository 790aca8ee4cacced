// Defaults of the backend interface.
#include "runtime/backend.hpp"

#include "runtime/pool.hpp"
#include "sinter/error.hpp"

namespace sinter::runtime {

std::shared_ptr<raw_module> backend::load_module(const module_source&) {
  throw device_error("[raw_module] kernels written by hand do not run on " + to_string(id()));
}

void backend::start(device_id id, stream& default_stream, block_source& plain_memory) {
  if (id.kind == device_kind::mesh) {  // nothing is enqueued there: what threads choose for the host will do
    slot_ = 0;
    default_stream_ = &default_stream;
    plain_memory_ = &plain_memory;
    return;
  }
  if (slot_of(id) >= device_slots)
    throw device_error("[device] " + to_string(id) + " is beyond the " + std::to_string(device_slots - 1) +
                       " GPUs that one process can use");
  slot_ = slot_of(id);
  default_stream_ = &default_stream;
  plain_memory_ = &plain_memory;
}

memory_figures backend::memory() { return memory_pool(memory_kind::device).figures(); }
void backend::trim() { memory_pool(memory_kind::device).trim(); }
void backend::reset_peak() { memory_pool(memory_kind::device).reset_peak(); }

void backend::set_block_source(std::shared_ptr<block_source> source) {
  const std::lock_guard lock(source_mutex_);
  source_.swap(source);
  has_source_ = source_ != nullptr;
}

std::shared_ptr<block_source> backend::get_block_source() const {
  const std::lock_guard lock(source_mutex_);
  return source_;
}

void backend::refuse_in_capture(const char* what) const {
  if (current_stream().notes()) [[unlikely]]
    throw device_error("[capture] " + std::string(what) + " cannot be captured");
}

void backend::copy_from_peer(void*, backend& peer, const void*, std::size_t, stream&) {
  throw device_error("[to_device] " + to_string(peer.id()) + " and " + to_string(id()) + " cannot copy to each other");
}

void backend::prefetch(const void*, std::size_t, const backend*) {
  throw device_error("[prefetch] there is no managed memory on " + to_string(id()));
}

void backend::advise(const void*, std::size_t, memory_hint, const backend*, bool) {
  throw device_error("[advise] there is no managed memory on " + to_string(id()));
}

algorithms& backend::algorithms() {
  throw device_error("[algorithms] sorting, scans and selections do not run on " + to_string(id()));
}

products& backend::products() { throw device_error("[products] matrix products do not run on " + to_string(id())); }

solvers& backend::solvers() {
  throw device_error("[linalg] factorisations of matrices do not run on " + to_string(id()));
}

sparse& backend::sparse() { throw device_error("[sparse] products of sparse arrays do not run on " + to_string(id())); }

}  // namespace sinter::runtime
