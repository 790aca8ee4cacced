// The tables of user functions and reductions.
#include "jit/program/user_function.hpp"

#include <initializer_list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "jit/program/include_scan.hpp"
#include "platform/hash.hpp"

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
  for (int n : {static_cast<int>(p.type), static_cast<int>(p.raw), static_cast<int>(p.rank)})
    key += static_cast<char>(n);
}

std::string contents(const user_function& f) {
  std::string key = f.files + (f.returns ? "function that returns\n" : "function\n");
  for (const std::string* field : {&f.name, &f.types, &f.preamble, &f.setup, &f.body, &f.loop_prep, &f.after_loop})
    put(key, *field);
  for (const user_parameter& p : f.inputs) put(key, p);
  key += '>';
  for (const user_parameter& p : f.outputs) put(key, p);
  return key;
}

std::string contents(const user_reduction& r) {
  std::string key = r.files + "reduction\n";
  for (const std::string* field : {&r.name, &r.types, &r.preamble, &r.combine, &r.identity}) put(key, *field);
  put(key, r.value);
  return key;
}

/// Empty for texts that include nothing. Files that cannot be determined are assumed not to change while the process
/// lives.
std::string hash_of_files(std::initializer_list<const std::string*> texts) {
  std::string all;
  for (const std::string* text : texts)
    if (text->find_first_of("#%") != std::string::npos) all += *text + "\n";
  const std::string files = all.empty() ? all : included_by_users(all).value_or("");
  return files.empty() ? files : platform::to_hex(platform::hash_bytes(files));
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

/// Never destroyed: outlives static arrays.
template <class T>
struct intern_table {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<T>> entries;

  static intern_table& instance() {
    static auto& table = *new intern_table;
    return table;
  }
};

template <class T>
const T* intern_in(T value, const char* prefix) {
  auto& table = intern_table<T>::instance();
  std::string key = contents(value);
  const std::lock_guard lock(table.mutex);
  std::unique_ptr<T>& slot = table.entries[key];
  if (!slot) {
    value.symbol = prefix + hex(platform::hash_bytes(key).lo);
    value.id = next_id();
    slot = std::make_unique<T>(std::move(value));
  }
  return slot.get();
}

}  // namespace

const user_function* intern(user_function f) {
  f.files = hash_of_files({&f.preamble, &f.setup, &f.body, &f.loop_prep, &f.after_loop});
  return intern_in(std::move(f), "sn_f");
}
const user_reduction* intern(user_reduction r) {
  r.files = hash_of_files({&r.preamble, &r.combine, &r.identity});
  return intern_in(std::move(r), "sn_r");
}

const user_function* find_function(std::uint64_t hash) {
  auto& table = intern_table<user_function>::instance();
  const std::string symbol = "sn_f" + hex(hash);
  const std::lock_guard lock(table.mutex);
  for (const auto& [key, f] : table.entries)
    if (f && f->symbol == symbol) return f.get();
  return nullptr;
}

}  // namespace sinter::jit
