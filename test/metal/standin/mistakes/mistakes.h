// Small host programs, each with one mistake against the Metal API, to prove that the stand-in notices it.
#pragma once

#include <string>

namespace standin {

// Runs the named program; what was noticed, "" when nothing was.
std::string make_mistake(const std::string& name);

}  // namespace standin
