export function cacheFolder(): string;
export function realModel(name: 'smollm2' | 'minilm'): Promise<string>;
