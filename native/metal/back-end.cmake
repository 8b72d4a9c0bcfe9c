# metal_back_end(<target>): every .mm below native/metal and the text of metal/*.metal as one static library.
file(GLOB_RECURSE METAL_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/metal/*.mm)
file(GLOB METAL_KERNELS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/../metal/*.metal ${CMAKE_CURRENT_SOURCE_DIR}/../metal/shared/*.h)
set(METAL_TEXT ${CMAKE_BINARY_DIR}/metal_kernels.cc)
add_custom_command(OUTPUT ${METAL_TEXT}
  COMMAND ${CMAKE_COMMAND} -DMETAL=${CMAKE_CURRENT_SOURCE_DIR}/../metal -DPARAMS=${CMAKE_CURRENT_SOURCE_DIR}/ops/params.h
          -DOUT=${METAL_TEXT} -P ${CMAKE_CURRENT_SOURCE_DIR}/metal/embed.cmake
  DEPENDS ${METAL_KERNELS} ${CMAKE_CURRENT_SOURCE_DIR}/ops/params.h ${CMAKE_CURRENT_SOURCE_DIR}/metal/embed.cmake
  COMMENT "Metal kernels as text")

function(metal_back_end target)
  folder_library(${target} SEES metal gpu ops formats SOURCES ${METAL_SOURCES} ${METAL_TEXT})
endfunction()
