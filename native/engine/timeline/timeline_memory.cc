#include "engine/timeline/timeline_memory.h"

#include <algorithm>

#include "formats/error.h"

namespace longhand {

namespace {

constexpr size_t copy_unit = 64;  // devices copy in units of this many bytes

Memory empty(const MemoryLayout& layout, CacheType type) {
  if (const auto* kv = std::get_if<KvCacheLayout>(&layout)) return KvCache{.layout = *kv, .type = type};
  if (const auto* latent = std::get_if<LatentCacheLayout>(&layout)) return LatentCache{.layout = *latent, .type = type};
  if (const auto* state = std::get_if<RecurrentStateLayout>(&layout)) return RecurrentState{.layout = *state};
  if (const auto* conv = std::get_if<ConvStateLayout>(&layout)) return ConvState{.layout = *conv};
  return CompressedKeys{.layout = std::get<CompressedKeysLayout>(layout)};
}

// The buffers of a growing cache, each with its size for `capacity` tokens.
template <class Visit>
void each_growing(Memory& memory, int64_t capacity, const Visit& visit) {
  if (auto* kv = std::get_if<KvCache>(&memory)) {
    const int64_t bytes = capacity * cache_row_bytes(kv->type, kv->layout.heads, kv->layout.dim);
    visit(kv->keys, bytes);
    visit(kv->values, bytes);
  } else if (auto* latent = std::get_if<LatentCache>(&memory)) {
    visit(latent->rope_keys, capacity * cache_row_bytes(latent->type, 1, latent->layout.rope_width));
    visit(latent->latents, capacity * cache_row_bytes(latent->type, 1, latent->layout.latent_width));
  } else if (auto* keys = std::get_if<CompressedKeys>(&memory)) {
    const int64_t row = keys->layout.heads * keys->layout.dim * static_cast<int64_t>(sizeof(float));
    visit(keys->k1, keys->layout.k1_windows(capacity) * row);
    visit(keys->k2, keys->layout.k2_windows(capacity) * row);
  }
}

void set_capacity(Memory& memory, int64_t capacity) {
  if (auto* kv = std::get_if<KvCache>(&memory)) kv->capacity = capacity;
  if (auto* latent = std::get_if<LatentCache>(&memory)) latent->capacity = capacity;
}

int64_t length_of(const Memory& memory) {
  if (const auto* kv = std::get_if<KvCache>(&memory)) return kv->length;
  if (const auto* latent = std::get_if<LatentCache>(&memory)) return latent->length;
  return 0;
}

void cut_to(Memory& memory, int64_t length) {
  if (auto* kv = std::get_if<KvCache>(&memory)) {
    kv->length = std::min(kv->length, length);
  } else if (auto* latent = std::get_if<LatentCache>(&memory)) {
    latent->length = std::min(latent->length, length);
  } else if (auto* keys = std::get_if<CompressedKeys>(&memory)) {
    keys->k1_length = std::min(keys->k1_length, keys->layout.k1_windows(length));
    keys->k2_length = std::min(keys->k2_length, keys->layout.k2_windows(length));
  }
}

}  // namespace

TimelineMemory::TimelineMemory(Backend& backend, std::span<const LayerFacts> layers, CacheType type, int64_t limit)
    : backend_(backend), type_(type), limit_(limit) {
  for (const LayerFacts& layer : layers) {
    LayerMemory memory;
    for (const MemoryLayout& layout : layer.memory) {
      memory.push_back(empty(layout, type));
      layouts_.push_back(layout);
      has_states_ = has_states_ || !grows(layout);
    }
    layers_.push_back(std::move(memory));
  }
}

template <class Visit>
void TimelineMemory::each_state(const Visit& visit) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      if (auto* state = std::get_if<RecurrentState>(&memory))
        visit(state->state, state->other, memory_bytes(state->layout, 0, type_));
      if (auto* conv = std::get_if<ConvState>(&memory))
        visit(conv->window, conv->other, memory_bytes(conv->layout, 0, type_));
    }
  }
}

template <class Visit>
void TimelineMemory::each_cache(const Visit& visit) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      if (!std::holds_alternative<CompressedKeys>(memory)) each_growing(memory, 1, visit);
    }
  }
}

uint64_t TimelineMemory::row_bytes() const {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layouts_)
    sum += grows(layout) && !std::holds_alternative<CompressedKeysLayout>(layout) ? memory_bytes(layout, 1, type_) : 0;
  return sum;
}

void TimelineMemory::read_rows(int64_t first, int64_t last, std::byte* to) {
  each_cache([&](BufferPtr& buffer, int64_t row) {
    const auto bytes = static_cast<size_t>((last - first) * row);
    if (bytes > 0) backend_.read(to, *buffer, static_cast<size_t>(first * row), bytes);
    to += bytes;
  });
}

void TimelineMemory::write_rows(int64_t first, int64_t last, const std::byte* from) {
  each_cache([&](BufferPtr& buffer, int64_t row) {
    const auto bytes = static_cast<size_t>((last - first) * row);
    if (bytes > 0) backend_.write(*buffer, static_cast<size_t>(first * row), from, bytes);
    from += bytes;
  });
}

void TimelineMemory::read_states(std::byte* to) {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    backend_.read(to, *buffer, 0, bytes);
    to += bytes;
  });
}

void TimelineMemory::write_states(const std::byte* from) {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    backend_.write(*buffer, 0, from, bytes);
    from += bytes;
  });
}

void TimelineMemory::set_length(int64_t length) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      if (auto* kv = std::get_if<KvCache>(&memory)) kv->length = length;
      if (auto* latent = std::get_if<LatentCache>(&memory)) latent->length = length;
    }
  }
}

uint64_t TimelineMemory::bytes(int64_t tokens) const {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layouts_) sum += memory_bytes(layout, tokens, type_);
  return backend_.decodes_async() ? sum + snapshot_bytes() : sum;
}

uint64_t TimelineMemory::snapshot_bytes() const {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layouts_) sum += grows(layout) ? 0 : memory_bytes(layout, 0, type_);
  return sum;
}

void TimelineMemory::reserve(int64_t tokens) {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    if (!buffer) buffer = backend_.allocate(bytes);
  });
  if (tokens <= capacity_) return;
  // Room for an answer after the prompt: otherwise its second token would wait for a copy of the whole cache.
  constexpr int64_t room = 1024;
  const int64_t generous = std::min(limit_, std::max(tokens + room, 2 * capacity_));
  try {
    grow(generous);
  } catch (const OutOfMemory&) {
    if (generous == tokens) throw;
    grow(tokens);
  }
}

// All larger buffers are allocated before the first old one is freed. Only rows in use are copied: untouched pages take
// no memory.
void TimelineMemory::grow(int64_t capacity) {
  std::vector<BufferPtr> larger;
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      each_growing(memory, capacity, [&](BufferPtr&, int64_t bytes) {
        larger.push_back(backend_.allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1))));
      });
    }
  }
  int64_t length = 0;
  for (const LayerMemory& layer : layers_) {
    for (const Memory& memory : layer) length = std::max(length, length_of(memory));
  }
  size_t index = 0;
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      each_growing(memory, length, [&](BufferPtr& buffer, int64_t held) {
        BufferPtr& to = larger[index++];
        const size_t bytes = (static_cast<size_t>(held) + copy_unit - 1) / copy_unit * copy_unit;
        if (buffer && held > 0) backend_.copy(*to, 0, *buffer, 0, std::min({bytes, buffer->bytes(), to->bytes()}));
        buffer = std::move(to);
      });
      set_capacity(memory, capacity);
    }
  }
  capacity_ = capacity;
}

void TimelineMemory::clear() {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t) {
    if (buffer) backend_.clear(*buffer);
  });
  cut(0);
}

void TimelineMemory::cut(int64_t length) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) cut_to(memory, length);
  }
}

void TimelineMemory::save(Snapshot& into, int64_t length) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    if (index == into.states.size()) into.states.push_back(backend_.allocate(bytes));
    backend_.copy(*into.states[index++], 0, *buffer, 0, bytes);
  });
  into.length = length;
}

void TimelineMemory::restore(const Snapshot& from) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    backend_.copy(*buffer, 0, *from.states[index++], 0, bytes);
  });
  cut(from.length);
}

void TimelineMemory::open_slots() {
  size_t index = 0;
  each_state([&](BufferPtr&, BufferPtr&, uint64_t bytes) {
    if (index++ == spare_.size()) spare_.push_back(backend_.allocate(bytes));
  });
  index = 0;
  each_state([&](BufferPtr&, BufferPtr& other, uint64_t) { other = std::move(spare_[index++]); });
  spare_.clear();
}

void TimelineMemory::close_slots() {
  spare_.clear();
  each_state([&](BufferPtr&, BufferPtr& other, uint64_t) { spare_.push_back(std::move(other)); });
}

TimelineMemory::Slots TimelineMemory::slots() {
  Slots all;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t) { all.push_back(buffer); });
  return all;
}

void TimelineMemory::back_to(const Slots& slots, int64_t length) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr& other, uint64_t) {
    if (buffer != slots[index++]) std::swap(buffer, other);
  });
  cut(length);
}

}  // namespace longhand
