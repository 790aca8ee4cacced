# The integer parameters of public headers: a line "function" for each function that takes an integer, an axis, axes, a shape
# or a size, and "struct.field" for each such field of a keyword aggregate. Reads whole headers; types are found by their
# names, so a declaration is text up to the next ; { or }.
function words_of(text) { gsub(/[^A-Za-z0-9_:]+/, " ", text); return " " text " " }

# Whether a parameter list, or a field's declaration, names an integer type.
function has_integer(text, generic,    w, k, n, list) {
  w = words_of(text)
  if (w ~ / (int|long|std::int64_t|std::uint64_t|std::int32_t|std::uint32_t|std::size_t|std::intptr_t|int64_t|extent) /) return 1
  if (w ~ / (axes|sinter::axes|optional_axis|axis_like|int_like|shape_t|draw_size|columns|bin_spec|dims) /) return 1
  n = split(generic, list, " ")
  for (k = 1; k <= n; ++k) if (w ~ (" " list[k] " ")) return 1
  return 0
}

# The names of template parameters that must be integers or axes: "template <int_like T, axis_like... A>".
function generic_of(text,    out) {
  out = ""
  while (match(text, /(int_like|axis_like)(\.\.\.)? +[A-Z][A-Za-z0-9_]*/)) {
    out = out " " substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
  }
  gsub(/(int_like|axis_like)(\.\.\.)? +/, "", out)
  return out
}

# The parameter list that begins at the first ( behind the name.
function list_of(text,    depth, k, c) {
  depth = 0
  for (k = 1; k <= length(text); ++k) {
    c = substr(text, k, 1)
    if (c == "(") ++depth
    if (c == ")" && --depth == 0) return substr(text, 1, k)
  }
  return text
}

function declaration(text,    generic, name, list) {
  generic = generic_of(text)
  sub(/.*(template *<[^>]*> *|requires *\([^;{]*\)\) *)/, "", text)
  sub(/^ *requires *\(sizeof\.\.\.\([A-Z]\)[^()]*\) */, "", text)
  if (text ~ /(static_assert|return|operator|using|noexcept_t| new |throw|friend)/ || text ~ /^ *(if|for|while)/) return
  if (match(text, /[A-Za-z_][A-Za-z0-9_]*\(/)) {
    name = substr(text, RSTART, RLENGTH - 1)
    list = list_of(substr(text, RSTART + RLENGTH - 1))
    if (text !~ /^[^(]*=/ && has_integer(list, generic)) print name
  } else if (kw != "" && text ~ /[A-Za-z0-9_>] +[a-z_0-9]+( *=|[{]|$)/ && has_integer(text, "")) {
    sub(/ *=.*/, "", text)
    sub(/[{].*/, "", text)
    gsub(/ +$/, "", text)
    sub(/.* /, "", text)
    print kw "." text
  }
}

FNR == 1 && NR != 1 { finish() }
{
  line = $0
  sub(/\/\/.*/, "", line)
  if (line ~ /^ *#/) next
  gsub(/\{\}/, "", line)
  all = all " " line
}
END { finish() }

function finish(    k, c, text, depth, hidden) {
  text = ""
  depth = 0
  kw = ""
  hidden = 0
  for (k = 1; k <= length(all); ++k) {
    c = substr(all, k, 1)
    if (c == ";" || c == "{" || c == "}") {
      gsub(/  +/, " ", text)
      if (text ~ /private:/) { inside = 1; sub(/.*private:/, "", text) }
      if (text ~ /public:/) { inside = 0; sub(/.*public:/, "", text) }
      if (c == "{" && text ~ /struct [a-z_0-9]+_(kw|options) *$/) {
        kw = text
        sub(/.*struct /, "", kw)
        gsub(/ /, "", kw)
      } else if (c == "{" && text ~ /namespace detail *$/) {
        hidden = depth + 1
      } else if (!hidden && !inside) {
        declaration(text)
      }
      if (c == "{") ++depth
      if (c == "}") {
        if (hidden == depth) hidden = 0
        --depth
        if (depth <= 3) { kw = ""; inside = 0 }
      }
      text = ""
    } else {
      text = text c
    }
  }
  all = ""
}
