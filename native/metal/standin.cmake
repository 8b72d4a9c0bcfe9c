# On a machine without Metal: the same native/metal and metal/ text, compiled by clang and linked against the stand-in of
# test/metal, as a second addon (longhand-metal.node beside longhand.node). Everything else is shared with the first.
find_program(STANDIN_CLANG NAMES clang++-19 clang++-20 clang++-21)
option(LONGHAND_METAL_STANDIN "Build the addon on the Metal stand-in" ON)
if(NOT LONGHAND_METAL_STANDIN OR NOT STANDIN_CLANG)
  message(STATUS "No Metal stand-in: needs clang 19 (apt-get install --no-install-recommends clang-19)")
  return()
endif()

set(CMAKE_OBJCXX_COMPILER ${STANDIN_CLANG})
set(CMAKE_OBJCXX_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
set(CMAKE_OBJCXX_STANDARD 20)
set(CMAKE_OBJCXX_STANDARD_REQUIRED ON)
set(CMAKE_OBJCXX_EXTENSIONS OFF)
enable_language(OBJCXX)
# Apple's Objective-C ABI on ELF, with ARC and blocks.
set(OBJC_ABI "-Wno-deprecated-objc-isa-usage -fobjc-runtime=macosx-10.15 -fobjc-arc -fblocks -Xclang -fobjc-runtime-has-weak")

get_filename_component(STANDIN ${CMAKE_CURRENT_SOURCE_DIR}/../test/metal/standin REALPATH)
file(GLOB STANDIN_SOURCES CONFIGURE_DEPENDS ${STANDIN}/*/*.cc ${STANDIN}/*/*.mm ${STANDIN}/*.mm)
set_source_files_properties(${STANDIN_SOURCES} PROPERTIES LANGUAGE OBJCXX)
foreach(source ${STANDIN_SOURCES})
  if(source MATCHES "\\.cc$")
    set_source_files_properties(${source} PROPERTIES COMPILE_FLAGS "-xc++")
  else()
    set_source_files_properties(${source} PROPERTIES COMPILE_FLAGS "${OBJC_ABI}")
  endif()
endforeach()
add_library(standin STATIC ${STANDIN_SOURCES})
target_include_directories(standin PRIVATE ${STANDIN})
target_include_directories(standin SYSTEM PRIVATE ${STANDIN}/include)
target_compile_options(standin PRIVATE -Wno-pedantic -Wno-deprecated-objc-isa-usage -Wno-conversion -Wno-shadow -Wno-unused-parameter)
target_compile_definitions(standin PRIVATE STANDIN_SOURCE="${STANDIN}" STANDIN_CLANG="${STANDIN_CLANG}"
                           STANDIN_CACHE="${CMAKE_BINARY_DIR}/standin-cache")

metal_back_end(metal_on_standin)
target_include_directories(metal_on_standin SYSTEM PRIVATE ${STANDIN}/include)
foreach(source ${METAL_SOURCES})
  set_source_files_properties(${source} PROPERTIES COMPILE_FLAGS "${OBJC_ABI}")
endforeach()

add_library(longhand-metal SHARED ${STANDIN}/addon.cc ${CMAKE_JS_SRC})
target_include_directories(longhand-metal PRIVATE ${CMAKE_BINARY_DIR}/see/addon ${STANDIN})
target_include_directories(longhand-metal SYSTEM PRIVATE ${CMAKE_JS_INC} ${CMAKE_CURRENT_SOURCE_DIR}/${NODE_ADDON_API})
target_compile_definitions(longhand-metal PRIVATE NAPI_VERSION=9 NAPI_CPP_EXCEPTIONS)
set_target_properties(longhand-metal PROPERTIES PREFIX "" SUFFIX ".node" LINKER_LANGUAGE CXX)
target_link_libraries(longhand-metal PRIVATE addon engine grammar architectures quantize cpu metal_on_standin vulkan vision formats
                      -Wl,--whole-archive standin -Wl,--no-whole-archive Threads::Threads dl ${CMAKE_JS_LIB})
