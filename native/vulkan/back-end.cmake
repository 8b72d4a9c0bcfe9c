# vulkan_back_end(<target>): every .cc below native/vulkan and the committed SPIR-V of shaders/*.comp as one static library. No shader
# compiler, no Vulkan header and no Vulkan library is needed: the loader is opened when the program runs.
file(GLOB_RECURSE VULKAN_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/*.cc)
list(REMOVE_ITEM VULKAN_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/unavailable.cc)
file(GLOB VULKAN_WORDS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/spirv/*.spv)
set(VULKAN_TEXT ${CMAKE_BINARY_DIR}/vulkan_kernels.cc)
add_custom_command(OUTPUT ${VULKAN_TEXT}
  COMMAND ${CMAKE_COMMAND} -DSPIRV=${CMAKE_CURRENT_SOURCE_DIR}/vulkan/spirv -DOUT=${VULKAN_TEXT}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/embed.cmake
  DEPENDS ${VULKAN_WORDS} ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/embed.cmake
  COMMENT "Vulkan kernels as words")

function(vulkan_back_end target)
  folder_library(${target} SEES gpu ops formats SOURCES ${VULKAN_SOURCES} ${VULKAN_TEXT})
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
endfunction()
