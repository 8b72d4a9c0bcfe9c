# cmake -DNAME=<function> -DFOLDERS=<folder;folder> -DOUT=<file.cc> -P source_number.cmake
# A number for the sources in some folders: packing_build() for everything that decides what packing makes of a tensor
# (cpu/weights/packed_cache.h), engine_build() for everything that decides what is computed (engine/prompt_cache/disk_tier.h).
set(HASHES "")
foreach(folder ${FOLDERS})
  file(GLOB_RECURSE FILES ${folder}/*.cc ${folder}/*.h ${folder}/*.mm ${folder}/*.metal ${folder}/*.comp ${folder}/*.glsl)
  list(SORT FILES)
  foreach(file ${FILES})
    file(SHA1 ${file} hash)
    string(APPEND HASHES "${hash}")
  endforeach()
endforeach()
string(SHA1 all "${HASHES}")
string(SUBSTRING ${all} 0 16 number)
file(WRITE ${OUT} "// Made by native/addon/source_number.cmake.
#include \"addon/devices.h\"

namespace longhand {
uint64_t ${NAME}() { return 0x${number}; }
}  // namespace longhand
")
