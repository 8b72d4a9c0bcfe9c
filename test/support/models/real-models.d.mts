export function cacheFolder(): string;
export function realModel(name: 'smollm2' | 'minilm' | 'llama-server' | 'qwen3-tokenizer'): Promise<string>;
