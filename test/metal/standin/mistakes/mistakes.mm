#include "mistakes/mistakes.h"

#include "mistakes/scene.h"

namespace standin {

std::string make_mistake(const std::string& name) {
  const Programs& first = encoder_programs();
  const Programs& all = first.contains(name) ? first : resource_programs();
  const auto found = all.find(name);
  if (found == all.end()) return "no such program";
  @autoreleasepool {
    try {
      Scene scene;
      return found->second(scene);
    } catch (const Misuse& noticed) {
      return noticed.what();
    }
  }
}

}  // namespace standin
