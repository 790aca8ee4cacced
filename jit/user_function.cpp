// The tables of user functions and reductions.
#include "user_function.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "hash.hpp"

namespace sinter::jit {
namespace {

void put(std::string& key, const std::string& field) {
  key += std::to_string(field.size());
  key += ':';
  key += field;
}

void put(std::string& key, const user_parameter& p) {
  put(key, p.name);
  put(key, p.opaque);
  for (int n : {static_cast<int>(p.type), static_cast<int>(p.raw), static_cast<int>(p.rank)}) key += static_cast<char>(n);
}

std::string contents(const user_function& f) {
  std::string key = f.returns ? "function that returns\n" : "function\n";
  for (const std::string* field : {&f.name, &f.types, &f.preamble, &f.setup, &f.body, &f.loop_prep, &f.after_loop}) put(key, *field);
  for (const user_parameter& p : f.inputs) put(key, p);
  key += '>';
  for (const user_parameter& p : f.outputs) put(key, p);
  return key;
}

std::string contents(const user_reduction& r) {
  std::string key = "reduction\n";
  for (const std::string* field : {&r.name, &r.types, &r.preamble, &r.combine, &r.identity}) put(key, *field);
  put(key, r.value);
  return key;
}

std::string hex(std::uint64_t n) {
  std::string text(16, '0');
  for (std::size_t k = text.size(); k-- > 0; n >>= 4) text[k] = "0123456789abcdef"[n & 15];
  return text;
}

std::uint64_t next_id() {
  static std::mutex mutex;
  static std::uint64_t last = 0;
  const std::lock_guard lock(mutex);
  return ++last;
}

template <class T>
const T* intern_in(T value, const char* prefix) {
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<std::string, std::unique_ptr<T>>;
  std::string key = contents(value);
  const std::lock_guard lock(mutex);
  std::unique_ptr<T>& slot = table[key];
  if (!slot) {
    value.symbol = prefix + hex(hash_bytes(key).lo);
    value.id = next_id();
    slot = std::make_unique<T>(std::move(value));
  }
  return slot.get();
}

}  // namespace

const user_function* intern(user_function f) { return intern_in(std::move(f), "sn_f"); }
const user_reduction* intern(user_reduction r) { return intern_in(std::move(r), "sn_r"); }

}  // namespace sinter::jit
