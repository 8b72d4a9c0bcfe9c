# cmake -DFOLDERS=<folder;folder> -DOUT=<packing_build.cc> -P packing_build.cmake
# A number for everything that decides what packing makes of a tensor (cpu/packed_cache.h).
set(HASHES "")
foreach(folder ${FOLDERS})
  file(GLOB FILES ${folder}/*.cc ${folder}/*.h)
  foreach(file ${FILES})
    file(SHA1 ${file} hash)
    string(APPEND HASHES "${hash}")
  endforeach()
endforeach()
string(SHA1 all "${HASHES}")
string(SUBSTRING ${all} 0 16 number)
file(WRITE ${OUT} "// Made by native/addon/packing_build.cmake.
#include \"addon/devices.h\"

namespace longhand {
uint64_t packing_build() { return 0x${number}; }
}  // namespace longhand
")
