# sinter_embed_cuda(<C++ file> <namespace> <files>...): each <name>.cu becomes the std::string_view <name>_cuda
# of that namespace, so that a program carries its kernels. Written again when a file changes.
function(sinter_embed_cuda out namespace)
  set(code "#include <string_view>\n\nnamespace ${namespace} {\n")
  foreach(path IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    get_filename_component(name "${path}" NAME_WE)
    # Not a list: brackets and semicolons are part of the text.
    file(READ "${path}" text)
    string(LENGTH "${text}" length)
    set(at 0)
    string(APPEND code "extern const std::string_view ${name}_cuda;\nconst std::string_view ${name}_cuda =\n")
    while(at LESS length)  # compilers limit the length of one literal
      string(SUBSTRING "${text}" ${at} 12000 piece)
      string(APPEND code "R\"cuda(${piece})cuda\"\n")
      math(EXPR at "${at} + 12000")
    endwhile()
    string(APPEND code ";\n")
  endforeach()
  string(APPEND code "}  // namespace ${namespace}\n")
  file(WRITE "${out}.new" "${code}")
  file(COPY_FILE "${out}.new" "${out}" ONLY_IF_DIFFERENT)
  file(REMOVE "${out}.new")
endfunction()
