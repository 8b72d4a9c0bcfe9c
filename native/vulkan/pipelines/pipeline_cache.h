// The driver's compiled pipelines as a file: <folder>/pipelines-<identity>.vkcache.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace longhand::vulkan {

// Where pipelines of this device, driver and these shaders are kept; empty when there is no folder for caches.
// LONGHAND_VULKAN_CACHE moves the folder.
std::string pipeline_cache_path(const std::string& identity);
// The stored cache; empty if there is none or it is damaged: a driver may trust what it is given.
std::vector<std::byte> read_pipeline_cache(const std::string& path);
void write_pipeline_cache(const std::string& path, const std::vector<std::byte>& data);

}  // namespace longhand::vulkan
