import { setImmediate as turn } from 'node:timers/promises';
import { gguf } from '@huggingface/gguf';
import type { TensorEntry } from '../../../native/addon/index.d.ts';
import { DownloadError } from '../network/download-error.ts';
import { type Network, network, request } from '../network/http-request.ts';
import { piecesOf } from './json-pieces.ts';
import type { RemoteFile } from './remote-file.ts';
import type { Repository } from './source.ts';

/** Headers of a remote model: the input of the engine's `describe`. */
export type RemoteHeaders = {
  container: 'safetensors' | 'mlx' | 'gguf';
  config: string;
  tensors: TensorEntry[];
  /** The files of the model, in download order. */
  files: RemoteFile[];
};

/** In place of a file name, for a folder of safetensors. */
export const FOLDER = '.';

/** Maximum header of a GGUF file, including its vocabulary: 151,643 tokens and as many merges (Qwen3) take 6 MB, 248,320 take 10. */
const MAX_HEADER = 32 * 1024 * 1024;
/** Maximum header of one safetensors file, and of all files of a model. */
const MAX_TABLE = 8 * 1024 * 1024;
const MAX_TABLES = 32 * 1024 * 1024;
/** For comparison: 256 experts with three matrices in 40 layers are 31,000. */
const MAX_TENSORS = 100_000;
const MAX_CONFIG = 4 * 1024 * 1024;

/** Reads configuration and tensor tables by range requests; never the weights.
 *  @throws DownloadError if the repository has no model in a known format, or its headers are invalid. */
export async function readRemoteHeaders(
  repository: Repository,
  chosen: string | null,
  signal: AbortSignal,
  net: Network = network,
): Promise<RemoteHeaders> {
  const ggufFile =
    chosen === FOLDER ? undefined : (repository.files.find((file) => file.name === chosen) ?? onlyGguf(repository));
  if (ggufFile?.name.endsWith('.gguf')) return ggufHeaders(repository, ggufFile, signal, net);
  const config = repository.files.find((file) => file.name === 'config.json');
  const weights = repository.files.filter((file) => /^[^/]+\.safetensors$/.test(file.name));
  if (!config || weights.length === 0) {
    throw new DownloadError(
      'not-found',
      `[inspect] ${repository.name} has neither a .gguf file nor config.json with .safetensors`,
    );
  }
  const text = new TextDecoder().decode(await readRange(config, 0, Math.min(config.size, MAX_CONFIG), signal, net));
  const tensors = await safetensorsTables(weights, signal, net);
  const mlx = /"quantization"\s*:/.test(text) && tensors.some((tensor) => tensor.name.endsWith('.scales'));
  const needed = repository.files.filter((file) => BESIDE.test(file.name));
  return { container: mlx ? 'mlx' : 'safetensors', config: text, tensors, files: [...needed, ...weights] };
}

/** Small files beside the weights: configuration, tokenizer, template. */
const BESIDE =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|preprocessor_config|sentence_bert_config|modules)\.json$|^chat_template\.(jinja|json)$|^model\.safetensors\.index\.json$|^1_Pooling\/config\.json$|^LICENSE(\.txt|\.md)?$/;

/** The GGUF files of a repository, one per quantisation; split sets by their first part. */
export function ggufFiles(repository: Repository): RemoteFile[] {
  return repository.files.filter((file) => {
    if (!file.name.endsWith('.gguf') || /mmproj/i.test(file.name)) return false;
    const part = /-(\d{5})-of-\d{5}\.gguf$/.exec(file.name);
    return !part || part[1] === '00001';
  });
}

function onlyGguf(repository: Repository): RemoteFile | undefined {
  const files = ggufFiles(repository);
  const hasFolderForm = repository.files.some((file) => file.name === 'config.json');
  return files.length === 1 || !hasFolderForm ? files[0] : undefined;
}

/** All parts of a split GGUF, given the first. */
export function partsOf(repository: Repository, first: RemoteFile): RemoteFile[] {
  const split = /^(.*)-00001-of-(\d{5})\.gguf$/.exec(first.name);
  if (!split) return [first];
  const count = Number(split[2]);
  return Array.from({ length: count }, (_, index) => {
    const name = `${split[1]}-${String(index + 1).padStart(5, '0')}-of-${split[2]}.gguf`;
    const file = repository.files.find((candidate) => candidate.name === name);
    if (!file) throw new DownloadError('not-found', `[inspect] part ${name} is missing from ${repository.name}`);
    return file;
  });
}

/** The vision tower, a separate file in llama.cpp's format: the most precise one with 16-bit weights. */
function towerOf(repository: Repository): RemoteFile | undefined {
  const order = ({ name }: RemoteFile) => (/bf16/i.test(name) ? 0 : /f16/i.test(name) ? 1 : 2);
  return repository.files
    .filter(({ name }) => name.endsWith('.gguf') && /(^|\/)[^/]*mmproj[^/]*$/i.test(name))
    .sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name))[0];
}

type Header = { metadata: Record<string, unknown>; tensors: TensorEntry[] };

async function ggufHeader(file: RemoteFile, signal: AbortSignal, net: Network): Promise<Header> {
  const address = `https://remote.invalid/${encodeURIComponent(file.key)}`;
  const { metadata, tensorInfos } = await gguf(address, { fetch: rangeFetch(file, signal, net) }).catch(
    (error: unknown) => {
      if (error instanceof DownloadError || signal.aborted) throw error;
      throw new DownloadError('not-a-model', `[gguf] ${file.name}: ${error instanceof Error ? error.message : error}`);
    },
  );
  const tensors = tensorInfos.map((info) => ({
    name: info.name,
    type: GGML_TYPES[info.dtype] ?? `type ${info.dtype}`,
    shape: info.shape.map(Number).reverse(),
  }));
  return { metadata: metadata as Record<string, unknown>, tensors };
}

async function ggufHeaders(
  repository: Repository,
  first: RemoteFile,
  signal: AbortSignal,
  net: Network,
): Promise<RemoteHeaders> {
  const files = partsOf(repository, first);
  const parts = await Promise.all(files.map((file) => ggufHeader(file, signal, net)));
  const metadata = parts[0]?.metadata ?? {};
  const tower = SEES.test(String(metadata['general.architecture'])) ? towerOf(repository) : undefined;
  if (tower) {
    const seen = await ggufHeader(tower, signal, net);
    // A tower of another model is ignored, as for local models (native/formats/gguf/gguf_split.cc).
    const fits =
      seen.metadata['clip.vision.projection_dim'] === metadata[`${metadata['general.architecture']}.embedding_length`];
    if (fits && projectorOf(seen.metadata) === 'qwen3vl_merger') {
      const keys = Object.entries(seen.metadata).filter(([key]) => key.startsWith('clip.'));
      Object.assign(metadata, Object.fromEntries(keys));
      parts.push(seen);
      files.push(tower);
    }
  }
  const tensors = parts.flatMap((part) => part.tensors);
  return { container: 'gguf', config: JSON.stringify(metadata, plain), tensors, files };
}

/** Families whose vision towers the engine supports. */
const SEES = /^qwen35(moe)?$/;
const projectorOf = (metadata: Record<string, unknown>) =>
  metadata['clip.projector_type'] ?? metadata['clip.vision.projector_type'];

/** A `fetch` for the header parser that applies our own redirect and token rules. */
function rangeFetch(file: RemoteFile, signal: AbortSignal, net: Network): typeof fetch {
  let asked = 0;
  return async (_input, init) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get('range') ?? '');
    const first = range ? Number(range[1]) : 0;
    const length = Math.min((range ? Number(range[2]) : MAX_HEADER) + 1 - first, file.size - first);
    asked += Math.max(0, length);
    // An endless header requests more and more.
    if (asked > MAX_HEADER) {
      throw new DownloadError('wrong-content', `[gguf] ${file.name} has a header of more than ${MAX_HEADER} bytes`);
    }
    return new Response(new Uint8Array(await readRange(file, first, length, signal, net)), { status: 206 });
  };
}

const plain = (_key: string, value: unknown) => {
  if (typeof value === 'bigint') return Number(value);
  // Token lists are not needed, and are most of the header.
  return Array.isArray(value) && value.length > 1024 ? { length: value.length } : value;
};

/** Headers read, and so held in memory, at the same time. */
const AT_ONCE = 4;

async function safetensorsTables(
  files: readonly RemoteFile[],
  signal: AbortSignal,
  net: Network,
): Promise<TensorEntry[]> {
  const tensors: TensorEntry[] = [];
  let bytes = 0;
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    for (const table of await Promise.all(some.map((file) => safetensorsTable(file, signal, net)))) {
      bytes += table.bytes;
      for (const tensor of table.tensors) tensors.push(tensor);
    }
    if (bytes > MAX_TABLES || tensors.length > MAX_TENSORS) {
      throw new DownloadError(
        'wrong-content',
        `[safetensors] the headers of ${files.length} files name ${tensors.length} tensors in ${bytes} bytes, at most ${MAX_TENSORS} in ${MAX_TABLES} are allowed`,
      );
    }
  }
  return tensors;
}

async function safetensorsTable(
  file: RemoteFile,
  signal: AbortSignal,
  net: Network,
): Promise<{ bytes: number; tensors: TensorEntry[] }> {
  const head = Buffer.from(await readRange(file, 0, 8, signal, net));
  const length = head.readBigUInt64LE(0);
  if (length > BigInt(Math.max(0, Math.min(MAX_TABLE, file.size - 8)))) {
    throw new DownloadError(
      'not-a-model',
      `[safetensors] ${file.name} declares a header of ${length} bytes in a file of ${file.size}; at most ${MAX_TABLE} are allowed`,
    );
  }
  const bytes = await readRange(file, 8, Number(length), signal, net);
  if (objectsIn(bytes) > MAX_TENSORS) {
    throw new DownloadError(
      'wrong-content',
      `[safetensors] ${file.name} names more than ${MAX_TENSORS} tensors, which is the limit`,
    );
  }
  return { bytes: bytes.length, tensors: await tensorsIn(new TextDecoder().decode(bytes), file.name) };
}

const BRACE = 0x7b;

/** Counted up to one more than is allowed: megabytes of them take a tenth of a second. */
function objectsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(BRACE); at !== -1 && count <= MAX_TENSORS; at = bytes.indexOf(BRACE, at + 1)) count++;
  return count;
}

async function tensorsIn(text: string, name: string): Promise<TensorEntry[]> {
  const tensors = new Map<string, TensorEntry>();
  try {
    for (const piece of piecesOf(text)) {
      const table = JSON.parse(piece) as Record<string, { dtype: string; shape: number[] }>;
      for (const [tensor, { dtype, shape }] of Object.entries(table))
        if (tensor !== '__metadata__')
          tensors.set(tensor, { name: tensor, type: String(dtype), shape: shapeOf(shape) });
      await turn();
    }
  } catch (error) {
    throw new DownloadError('not-a-model', `[safetensors] the header of ${name} is not JSON`, { cause: error });
  }
  return [...tensors.values()];
}

function shapeOf(shape: readonly unknown[]): number[] {
  const numbers = shape.map(Number);
  if (numbers.every((size) => Number.isSafeInteger(size) && size >= 0)) return numbers;
  throw new TypeError('a shape that is no list of sizes');
}

/** Bytes [first, first + length) of a remote file. */
export async function readRange(
  file: RemoteFile,
  first: number,
  length: number,
  signal: AbortSignal,
  net: Network,
): Promise<Uint8Array> {
  if (length <= 0) return new Uint8Array();
  const answer = await request(await file.address(), { first, last: first + length - 1 }, file.etag, signal, net);
  // A server without range support also sends everything before; it is skipped.
  let skip = answer.ranged ? 0 : first;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body) {
    const wanted = part.subarray(Math.min(skip, part.length), skip + length - bytes);
    skip -= Math.min(skip, part.length);
    bytes += wanted.length;
    if (wanted.length > 0) parts.push(wanted);
    if (bytes >= length) break;
  }
  if (bytes < length) {
    throw new DownloadError('network', `[download] got ${bytes} of ${length} bytes of ${file.name}`, {
      transient: true,
    });
  }
  return Buffer.concat(parts, length);
}

/** Names of ggml's tensor types by their number in a file (gguf specification). */
const GGML_TYPES: Record<number, string> = {
  0: 'F32',
  1: 'F16',
  2: 'Q4_0',
  3: 'Q4_1',
  6: 'Q5_0',
  7: 'Q5_1',
  8: 'Q8_0',
  10: 'Q2_K',
  11: 'Q3_K',
  12: 'Q4_K',
  13: 'Q5_K',
  14: 'Q6_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  30: 'BF16',
  39: 'MXFP4',
};
