# cmake -DSPIRV=<spirv/> -DOUT=<kernels.cc> -P embed.cmake
# Every spirv/<name>.spv becomes an array of words.
file(GLOB FILES ${SPIRV}/*.spv)
set(TABLE "")
set(ARRAYS "")
set(HASHES "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(SHA1 hash "${hex}")
  string(APPEND HASHES "${hash}")
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${hex}")
  string(APPEND ARRAYS "constexpr uint32_t ${name}[] = {${words}};\n")
  string(APPEND TABLE "    {\"${name}\", ${name}},\n")
endforeach()
string(SHA1 all "${HASHES}")
file(WRITE ${OUT} "// Made by native/vulkan/embed.cmake.
#include \"vulkan/pipelines/kernels.h\"

#include <cassert>

namespace longhand::vulkan {
namespace {

${ARRAYS}
struct Source {
  std::string_view name;
  std::span<const uint32_t> words;
};
constexpr Source sources[] = {
${TABLE}};

}  // namespace

std::span<const uint32_t> kernel_words(std::string_view name) {
  for (const Source& source : sources)
    if (source.name == name) return source.words;
  assert(false);
  return {};
}
std::string kernel_hash() { return \"${all}\"; }

}  // namespace longhand::vulkan
")
