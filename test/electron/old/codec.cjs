// What a structured clone carries, as JSON: Node 12 and Node 24 share no format of serialisation.
const BYTES = { Uint8Array, Float32Array, Float64Array, Int32Array, Uint32Array };

function pack(value) {
  if (value === undefined) return { $: 'undefined' };
  if (typeof value === 'bigint') return { $: 'bigint', value: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { $: 'number', value: String(value) };
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(pack);
  if (value instanceof Date) return { $: 'date', value: Number(value) };
  if (value instanceof Map) return { $: 'map', value: [...value].map(pack) };
  if (value instanceof Set) return { $: 'set', value: [...value].map(pack) };
  if (value instanceof ArrayBuffer) return { $: 'buffer', value: Buffer.from(value).toString('base64') };
  if (ArrayBuffer.isView(value)) {
    const name = Object.keys(BYTES).find((key) => value instanceof BYTES[key]);
    return { $: name, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  return { $: 'object', value: Object.keys(value).map((key) => [key, pack(value[key])]) };
}

function unpack(packed) {
  if (packed === null || typeof packed !== 'object') return packed;
  if (Array.isArray(packed)) return packed.map(unpack);
  const { $: kind, value } = packed;
  if (kind === 'undefined') return undefined;
  if (kind === 'bigint') return BigInt(value);
  if (kind === 'number') return Number(value);
  if (kind === 'date') return new Date(value);
  if (kind === 'map') return new Map(value.map(unpack));
  if (kind === 'set') return new Set(value.map(unpack));
  if (kind === 'object') return Object.fromEntries(value.map(([key, inner]) => [key, unpack(inner)]));
  const bytes = new Uint8Array(Buffer.from(value, 'base64')).buffer;
  return kind === 'buffer' ? bytes : new BYTES[kind](bytes);
}

module.exports = { pack, unpack };
