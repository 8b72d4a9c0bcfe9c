// A Vulkan driver that ends its process the moment the loader touches it.
#include <csignal>

extern "C" {
int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned*) { return 0; }
void* vk_icdGetInstanceProcAddr(void*, const char*) {
  raise(SIGSEGV);
  return nullptr;
}
}
