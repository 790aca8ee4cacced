// Generated text, line by line. Braces at the ends of lines say how far they are indented.
#pragma once
#include <string>
#include <string_view>

namespace sinter::jit::cuda {

class text {
 public:
  /// One line.
  template <class... Parts>
  text& operator()(const Parts&... parts) {
    line_.clear();
    (append(parts), ...);
    put();
    return *this;
  }
  /// Lines as they are.
  void add(std::string_view lines) { out_ += lines; }
  const std::string& str() const noexcept { return out_; }

  /// A block that `head` opens, of what `body` writes; a loop that is not unrolled.
  template <class Body>
  void scope(const std::string& head, Body&& body) {
    (*this)(head, head.empty() ? "{" : " {");
    body();
    (*this)("}");
  }
  template <class Body>
  void loop(const std::string& head, Body&& body) {
    (*this)("#pragma unroll 1");
    scope(head, body);
  }
  /// What `body` writes, after declarations of a name where it uses it.
  template <class Body>
  void with(std::string_view name, const std::string& declarations, Body&& body) {
    const std::size_t at = out_.size();
    body();
    if (out_.find(name, at) != std::string::npos) out_.insert(at, declarations);
  }
  /// An unrolled loop of `n` runs over `name`, of what `body` writes or of one statement.
  template <class Body>
  void unrolled(const char* name, int n, Body&& body) {
    (*this)("#pragma unroll");
    scope(counted(name, n), body);
  }
  template <class... Parts>
  void each(const char* name, int n, const Parts&... statement) {
    (*this)("#pragma unroll");
    (*this)(counted(name, n), " ", statement...);
  }

 private:
  static std::string counted(const std::string& name, int n) {
    return "for (int " + name + " = 0; " + name + " < " + std::to_string(n) + "; ++" + name + ")";
  }
  void append(std::string_view s) { line_ += s; }
  void append(int n) { line_ += std::to_string(n); }
  void put() {
    if (line_.empty()) return;
    if (line_.front() == '}' && depth_ > 0) depth_ -= 1;
    if (line_.front() != '#') out_.append(2 * depth_, ' ');
    out_ += line_;
    out_ += '\n';
    if (line_.back() == '{' && !line_.starts_with("namespace")) depth_ += 1;
  }

  std::string out_, line_;
  std::size_t depth_ = 0;
};

}  // namespace sinter::jit::cuda
