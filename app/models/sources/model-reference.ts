/** A reference to a model as a user may paste it: `org/name`, a hub page, or the URL of a file. */
export type ModelReference =
  | {
      kind: 'repository';
      source: 'huggingface' | 'modelscope';
      name: string;
      revision: string | null;
      file: string | null;
    }
  | { kind: 'url'; url: string }
  | { kind: 'path'; path: string };

const NAME = /^[\w.-]+\/[\w.-]+$/;
const HUBS: Record<string, 'huggingface' | 'modelscope'> = {
  'huggingface.co': 'huggingface',
  'hf.co': 'huggingface',
  'hf-mirror.com': 'huggingface',
  'modelscope.cn': 'modelscope',
  'www.modelscope.cn': 'modelscope',
};

/** Null if it is none of these. */
export function readReference(text: string): ModelReference | null {
  const trimmed = text.trim().replace(/^["'<]+|["'>]+$/g, '');
  if (/^(\/|~\/|\.\.?\/|[a-zA-Z]:\\|file:\/\/)/.test(trimmed))
    return { kind: 'path', path: trimmed.replace(/^file:\/\//, '') };
  if (!/^https?:\/\//i.test(trimmed)) {
    const [name = '', revision = null] = trimmed.split('@');
    return NAME.test(name) && !name.includes('..')
      ? { kind: 'repository', source: 'huggingface', name, revision, file: null }
      : null;
  }
  return URL.canParse(trimmed) ? fromUrl(new URL(trimmed)) : null;
}

function fromUrl(url: URL): ModelReference {
  const source = HUBS[url.host.toLowerCase()];
  const parts = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  if (parts[0] === 'models' && source === 'modelscope') parts.shift();
  const name = parts.slice(0, 2).join('/');
  if (!source || !NAME.test(name)) return { kind: 'url', url: url.href };
  const [place, revision, ...path] = parts.slice(2);
  const inTree = place === 'tree' || place === 'blob' || place === 'resolve';
  return {
    kind: 'repository',
    source,
    name,
    revision: inTree ? (revision ?? null) : null,
    file: (place === 'blob' || place === 'resolve') && path.length > 0 ? path.join('/') : null,
  };
}
