# cmake -DMETAL=<metal/> -DPARAMS=<params.h> [-DOUT=<kernels.cc>] [-DTEXTS=<folder>] -P embed.cmake
# newLibraryWithSource takes one text: every kernel file becomes a string with its #includes put in place, each once.
# With TEXTS each goes to a file too, and the hash of all to the file `hash`: for app/launch/metallib.mjs.
file(GLOB FILES ${METAL}/*.metal)
set(TABLE "")
set(STRINGS "")
set(HASHES "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  set(seen "")
  while(text MATCHES "#include \"((shared/)?([a-z_]+\\.h))\"")
    set(written ${CMAKE_MATCH_1})
    set(header ${CMAKE_MATCH_3})
    if(seen MATCHES "<${header}>")
      set(body "")
    elseif(header STREQUAL "params.h")
      file(READ ${PARAMS} body)
    else()
      file(READ ${METAL}/shared/${header} body)
    endif()
    string(APPEND seen "<${header}>")
    string(REPLACE "#pragma once" "" body "${body}")
    string(FIND "${text}" "#include \"${written}\"" at)
    string(LENGTH "#include \"${written}\"" length)
    math(EXPR after "${at} + ${length}")
    string(SUBSTRING "${text}" 0 ${at} before)
    string(SUBSTRING "${text}" ${after} -1 rest)
    set(text "${before}${body}${rest}")
  endwhile()
  if(TEXTS)
    file(WRITE ${TEXTS}/${name}.metal "${text}")
  endif()
  string(SHA1 hash "${text}")
  string(APPEND HASHES "${hash}")
  string(APPEND STRINGS "constexpr const char ${name}[] = R\"metal(${text})metal\";\n")
  string(APPEND TABLE "    {\"${name}\", ${name}},\n")
endforeach()
string(SHA1 all "${HASHES}")
if(TEXTS)
  file(WRITE ${TEXTS}/hash "${all}")
endif()
if(NOT OUT)
  return()
endif()
file(WRITE ${OUT} "// Made by native/metal/embed.cmake.
#include \"metal/pipelines/kernels.h\"

#include <cassert>

namespace longhand::metal {
namespace {

${STRINGS}
struct Source {
  std::string_view name;
  const char* text;
};
constexpr Source sources[] = {
${TABLE}};

}  // namespace

const char* kernel_source(std::string_view file) {
  for (const Source& source : sources)
    if (source.name == file) return source.text;
  assert(false);
  return \"\";
}
std::string kernel_hash() { return \"${all}\"; }

}  // namespace longhand::metal
")
