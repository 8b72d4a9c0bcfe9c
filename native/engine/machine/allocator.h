// The allocator of this process.
#pragma once

namespace longhand {

// Returns memory that was freed, but that the allocator keeps for later, to the system. glibc keeps up to 32 MB at the
// end of each of its heaps, and more behind a block that is still in use. Call it after a model or a cache has been
// freed, from any thread.
void return_freed_memory();

}  // namespace longhand
