#include "engine/session_memory.h"

#include <algorithm>

namespace longhand {

namespace {

Memory empty(const MemoryLayout& layout, CacheType type) {
  if (const auto* kv = std::get_if<KvCacheLayout>(&layout)) return KvCache{.layout = *kv, .type = type};
  if (const auto* latent = std::get_if<LatentCacheLayout>(&layout)) return LatentCache{.layout = *latent, .type = type};
  if (const auto* state = std::get_if<RecurrentStateLayout>(&layout)) return RecurrentState{.layout = *state};
  if (const auto* conv = std::get_if<ConvStateLayout>(&layout)) return ConvState{.layout = *conv};
  return CompressedKeys{.layout = std::get<CompressedKeysLayout>(layout)};
}

// A larger buffer that begins with what the old one held.
BufferPtr grown(Backend& backend, const BufferPtr& old, int64_t bytes) {
  BufferPtr larger = backend.allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (old) backend.copy(*larger, 0, *old, 0, std::min(old->bytes(), larger->bytes()));
  return larger;
}

// One layer's growing part with room for `capacity` tokens.
void grow(Backend& backend, Memory& memory, int64_t capacity) {
  if (auto* kv = std::get_if<KvCache>(&memory)) {
    const int64_t bytes = capacity * cache_row_bytes(kv->type, kv->layout.heads, kv->layout.dim);
    kv->keys = grown(backend, kv->keys, bytes);
    kv->values = grown(backend, kv->values, bytes);
    kv->capacity = capacity;
  } else if (auto* latent = std::get_if<LatentCache>(&memory)) {
    latent->rope_keys =
        grown(backend, latent->rope_keys, capacity * cache_row_bytes(latent->type, 1, latent->layout.rope_width));
    latent->latents =
        grown(backend, latent->latents, capacity * cache_row_bytes(latent->type, 1, latent->layout.latent_width));
    latent->capacity = capacity;
  } else if (auto* keys = std::get_if<CompressedKeys>(&memory)) {
    const int64_t row = keys->layout.heads * keys->layout.dim * static_cast<int64_t>(sizeof(float));
    keys->k1 = grown(backend, keys->k1, compressed_windows(keys->layout, capacity, 1) * row);
    keys->k2 = grown(backend, keys->k2, compressed_windows(keys->layout, capacity, 4) * row);
  }
}

void cut_to(Memory& memory, int64_t length) {
  if (auto* kv = std::get_if<KvCache>(&memory)) {
    kv->length = std::min(kv->length, length);
  } else if (auto* latent = std::get_if<LatentCache>(&memory)) {
    latent->length = std::min(latent->length, length);
  } else if (auto* keys = std::get_if<CompressedKeys>(&memory)) {
    keys->k1_length = std::min(keys->k1_length, compressed_windows(keys->layout, length, 1));
    keys->k2_length = std::min(keys->k2_length, compressed_windows(keys->layout, length, 4));
  }
}

}  // namespace

SessionMemory::SessionMemory(Backend& backend, std::span<const LayerFacts> layers, CacheType type, int64_t limit)
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
void SessionMemory::each_state(const Visit& visit) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) {
      if (auto* state = std::get_if<RecurrentState>(&memory))
        visit(state->state, state->other, memory_bytes(state->layout, 0, type_));
      if (auto* conv = std::get_if<ConvState>(&memory))
        visit(conv->window, conv->other, memory_bytes(conv->layout, 0, type_));
    }
  }
}

uint64_t SessionMemory::bytes(int64_t tokens) const {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layouts_) sum += memory_bytes(layout, tokens, type_);
  return backend_.runs_ahead() ? sum + snapshot_bytes() : sum;
}

uint64_t SessionMemory::snapshot_bytes() const {
  uint64_t sum = 0;
  for (const MemoryLayout& layout : layouts_) sum += grows(layout) ? 0 : memory_bytes(layout, 0, type_);
  return sum;
}

void SessionMemory::reserve(int64_t tokens) {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    if (!buffer) buffer = backend_.allocate(bytes);
  });
  if (tokens <= capacity_) return;
  // Room for an answer behind a prompt: else its second token would wait until everything has been copied.
  constexpr int64_t room = 1024;
  const int64_t capacity = std::min(limit_, std::max(tokens + room, 2 * capacity_));
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) grow(backend_, memory, capacity);
  }
  capacity_ = capacity;
}

void SessionMemory::clear() {
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t) {
    if (buffer) backend_.clear(*buffer);
  });
  cut(0);
}

void SessionMemory::cut(int64_t length) {
  for (LayerMemory& layer : layers_) {
    for (Memory& memory : layer) cut_to(memory, length);
  }
}

void SessionMemory::save(Snapshot& into, int64_t length) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    if (index == into.states.size()) into.states.push_back(backend_.allocate(bytes));
    backend_.copy(*into.states[index++], 0, *buffer, 0, bytes);
  });
  into.length = length;
}

void SessionMemory::restore(const Snapshot& from) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t bytes) {
    backend_.copy(*buffer, 0, *from.states[index++], 0, bytes);
  });
  cut(from.length);
}

void SessionMemory::open_slots() {
  size_t index = 0;
  each_state([&](BufferPtr&, BufferPtr&, uint64_t bytes) {
    if (index++ == spare_.size()) spare_.push_back(backend_.allocate(bytes));
  });
  index = 0;
  each_state([&](BufferPtr&, BufferPtr& other, uint64_t) { other = spare_[index++]; });
}

void SessionMemory::close_slots() {
  size_t index = 0;
  each_state([&](BufferPtr&, BufferPtr& other, uint64_t) { spare_[index++] = std::move(other); });
}

SessionMemory::Slots SessionMemory::slots() {
  Slots all;
  each_state([&](BufferPtr& buffer, BufferPtr&, uint64_t) { all.push_back(buffer); });
  return all;
}

void SessionMemory::back_to(const Slots& slots, int64_t length) {
  size_t index = 0;
  each_state([&](BufferPtr& buffer, BufferPtr& other, uint64_t) {
    if (buffer != slots[index++]) std::swap(buffer, other);
  });
  cut(length);
}

}  // namespace longhand
