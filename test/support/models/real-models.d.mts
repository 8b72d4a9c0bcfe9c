export function cacheFolder(): string;
export function realModel(name: 'smollm2' | 'minilm' | 'qwen3-tokenizer'): Promise<string>;
