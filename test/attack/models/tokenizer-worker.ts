import { parentPort } from 'node:worker_threads';
import { modelTextFromFiles, modelTextFromGguf } from '../../../app/text/model-text.ts';
import { protect } from '../../../app/text/special-token-escape.ts';

/** Treats a tokenizer like the engine does. */
parentPort?.on('message', ({ json, gguf, text }: { json?: string; gguf?: Record<string, unknown>; text: string }) => {
  const before = process.threadCpuUsage();
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  try {
    const { tokenizer, decode } = gguf
      ? modelTextFromGguf(gguf)
      : modelTextFromFiles({ tokenizer: JSON.parse(json ?? '') });
    const ids = tokenizer.encode(tokenizer.split(text));
    protect({ messages: [text] }, text, tokenizer);
    parentPort?.postMessage({ tokens: ids.length, text: decode(ids.slice(0, 10)), cpuMs: cpuMs() });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    parentPort?.postMessage({ code: code ?? 'unknown', message, cpuMs: cpuMs() });
  }
});
