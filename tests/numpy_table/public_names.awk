# Prints what public headers declare, one tab-separated line each: kind, name, file, line.
#   function NAME      a free function ("linalg::solve" where it stands in a namespace of its own)
#   namespace NAME
#   type NAME          a class, struct, enumeration or alias
#   constant NAME      a variable
#   member CLASS.NAME  a public member function
#   field CLASS.NAME   a public data member
# No compiler: declarations are told apart by their first tokens and by the first parenthesis outside of template
# arguments. Operators, constructors, bodies, friends, concepts, private members and internal namespaces are left out.

BEGIN {
  OFS = "\t"
  split("detail graph ops runtime jit core backends", list, " ")
  for (k in list) internal[list[k]] = 1
  # Parts of a namespace's name that nobody writes.
  silent["sinter"] = silent["v0"] = silent["idx"] = 1
}

FNR == 1 { reset() }

# ---- tokens

directive { directive = /\\$/; next }
!comment && /^[ \t]*#/ { directive = /\\$/; next }
{
  line = $0
  while (line != "") {
    if (comment) {
      if (!(at = index(line, "*/"))) break
      line = substr(line, at + 2)
      comment = 0
    } else if (match(line, /^[ \t\r]+/)) line = substr(line, RLENGTH + 1)
    else if (line ~ /^\/\//) break
    else if (line ~ /^\/\*/) {
      line = substr(line, 3)
      comment = 1
    } else if (match(line, /^[A-Za-z_][A-Za-z_0-9]*/) || match(line, /^[0-9][A-Za-z_0-9.']*/) ||
               match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)*'/) ||
               match(line, /^(::|->|\.\.\.|<=>|<=|>=|==|!=|&&|\|\|)/) || match(line, /^./)) {
      word = substr(line, 1, RLENGTH)
      line = substr(line, RLENGTH + 1)
      take(word)
    }
  }
}

function reset() {
  comment = directive = skipped = parens = count = 0
  depth = 0
  kind[0] = "namespace"
  path[0] = ""
  open_to_all[0] = 0
}

# One token: gathers the head of a declaration, which ends at ; { or }.
function take(word) {
  if (skipped > 0) {
    if (word == "{") ++skipped
    if (word == "}") --skipped
    return
  }
  if (parens == 0) {
    if (word == ";") return declare(0)
    if (word == "{") return enter()
    if (word == "}") return leave()
    if (word == ":" && kind[depth] == "class" && count == 1 && head[1] ~ /^(public|private|protected)$/) {
      open_to_all[depth] = parent_open[depth] && head[1] == "public"
      count = 0
      return
    }
  }
  if (word == "(" || word == "[") ++parens
  if (word == ")" || word == "]") --parens
  if (count == 0) first_line = FNR
  head[++count] = word
  level[count] = parens
}

# ---- scopes

function push(what, where, visible) {
  ++depth
  kind[depth] = what
  path[depth] = where
  parent_open[depth] = visible
  open_to_all[depth] = visible
  count = 0
}

function leave() {
  if (depth > 0) --depth
  count = 0
}

function enter(   first, k, name, where, visible) {
  first = begin_of_head()
  k = first
  if (head[k] == "inline" && head[k + 1] == "namespace") ++k
  if (head[k] == "namespace") {
    where = path[depth]
    visible = depth == 0 ? head[k + 1] == "sinter" : open_to_all[depth]
    for (++k; k <= count; ++k) {
      if (head[k] == "::" || head[k] == "inline") continue
      if (head[k] in internal) visible = 0
      if (!(head[k] in silent)) where = where head[k] "::"
      name = head[k] in silent ? head[k] : substr(where, 1, length(where) - 2)
    }
    if (visible && name != "sinter" && name != "v0") say("namespace", name)
    return push("namespace", where, visible)
  }
  if (head[first] ~ /^(class|struct|union|enum)$/) {
    name = name_of_type(first)
    visible = open_to_all[depth]
    if (name == "") visible = 0
    else if (visible && kind[depth] == "namespace" && !special) say("type", path[depth] name)
    if (head[first] == "enum") return skip()
    class_name[depth + 1] = name
    push("class", name ".", visible)
    open_to_all[depth] = visible && head[first] != "class"
    return
  }
  declare(1)
  skip()
}

function skip() {
  skipped = 1
  count = 0
}

# The first token behind template <...>, attributes, parenthesised constraints and calls of the library's macros; sets `special` for template <>.
function begin_of_head(   k, angle) {
  special = 0
  k = 1
  for (;;) {
    if (head[k] == "template" && head[k + 1] == "<") {
      if (head[k + 2] == ">") special = 1
      angle = 0
      for (++k; k <= count; ++k) {
        if (level[k] != 0) continue
        if (head[k] == "<") ++angle
        if (head[k] == ">" && --angle == 0) break
      }
      ++k
    } else if (head[k] == "[" && head[k + 1] == "[") k = behind(k)
    else if (head[k] ~ /^SINTER_[A-Z_]*$/ && head[k + 1] == "(") k = behind(k + 1)
    else if (head[k] == "requires" || (k > 1 && (head[k] == "&&" || head[k] == "||"))) k = behind_condition(k + 1)
    else return k
  }
}

# Behind one operand of a constraint: in parentheses, or a concept and its arguments.
function behind_condition(k,   angle) {
  if (head[k] == "(") return behind(k)
  while (head[k + 1] == "::") k += 2
  if (head[k + 1] != "<") return k + 1
  for (++k; k <= count; ++k) {
    if (level[k] != 0) continue
    if (head[k] == "<") ++angle
    if (head[k] == ">" && --angle == 0) return k + 1
  }
  return k
}

# Behind the bracket that opens at k.
function behind(k,   outside) {
  outside = level[k] - 1
  for (++k; k <= count && level[k] > outside; ++k) {}
  return k + 1
}

function is_name(word) { return word ~ /^[A-Za-z_][A-Za-z_0-9]*$/ }

function name_of_type(k,   name) {
  for (++k; k <= count; ++k) {
    if (head[k] == "class" || head[k] == "struct") continue
    if (head[k] == "[") { k = behind(k) - 1; continue }
    if (head[k] == "alignas") { k = behind(k + 1) - 1; continue }
    if (!is_name(head[k]) || head[k] == "final") break
    name = head[k]
  }
  return name
}

# ---- declarations

# `body`: it ends with a brace: a function's body or an initialiser.
function declare(body,   first, k, angle) {
  if (count == 0 || !open_to_all[depth]) { count = 0; return }
  first = begin_of_head()
  if (head[first] == "using") {
    if (head[first + 2] == "=" && kind[depth] == "namespace") say("type", path[depth] head[first + 1])
  } else if (head[first] !~ /^(typedef|static_assert|concept|friend|namespace|class|struct|union|enum|template)$/) {
    k = name_at_parenthesis(first)
    if (k > 0) {
      # Behind a brace a comma goes on with a list of variables, or of a constructor's initialisers.
      if (head[first] != "," && is_name(head[k]) && head[k - 1] !~ /^(::|~)$/ && head[k] != class_name[depth])
        say(kind[depth] == "class" ? "member" : "function", path[depth] head[k])
    } else if (k == 0) variables(first)
  }
  count = 0
}

# The token in front of the parameters; 0 for a variable, -1 for an operator.
function name_at_parenthesis(first,   k, angle) {
  for (k = first; k <= count; ++k) {
    if (head[k] == "operator") return -1
    if (head[k] == "=" && angle == 0) return 0
    if (head[k] ~ /^(requires|noexcept|explicit|alignas|decltype)$/ && head[k + 1] == "(") k = behind(k + 1) - 1
    else if (head[k] == "<" && is_name(head[k - 1])) ++angle
    else if (head[k] == ">" && angle > 0) --angle
    else if (head[k] == "(" && angle == 0 && is_name(head[k - 1]) && k > first) return k - 1
    else if (head[k] == "(" || head[k] == "[") k = behind(k) - 1
  }
  return 0
}

# Every name of `type a = ..., b{...}, c`. At namespace scope a variable says that it is one.
function variables(first,   k, angle, name, seen) {
  if (kind[depth] == "namespace" && head[first] !~ /^(inline|constexpr|const|extern)$/ && head[first] != ",") return
  for (k = first; k <= count + 1; ++k) {
    if (k <= count && level[k] > 0) continue
    if (k > count || (head[k] == "," && angle == 0)) {
      if (name != "") say(kind[depth] == "class" ? "field" : "constant", path[depth] name)
      name = ""
      seen = 0
    } else if (head[k] == "=" && angle == 0) seen = 1
    else if (head[k] == "<" && is_name(head[k - 1])) ++angle
    else if (head[k] == ">" && angle > 0) --angle
    else if (!seen && angle == 0 && is_name(head[k])) name = head[k]
  }
}

function say(what, name) { print what, name, FILENAME, first_line }
