#pragma once

namespace standin {

// The system's memory is short: everybody who listens hears it, on another thread, before this returns.
void raise_pressure(bool critical);

}  // namespace standin
