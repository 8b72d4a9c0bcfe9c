import { Parser } from 'htmlparser2';
import { LonghandError } from '../../../protocol/errors.ts';

export type Attributes = Readonly<Record<string, string>>;
/** Names are passed without prefix: `w:p` is `p`. */
export type XmlVisitor = {
  open?(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
  /** Called after every chunk, to hand on what was found. */
  pause?(): Promise<void> | void;
};

const MAX_DEPTH = 2000;

/** Walks XML as a stream; DTD entities are not expanded. @throws LonghandError `unreadable` */
export async function walkXml(chunks: AsyncIterable<string> | Iterable<string>, visitor: XmlVisitor): Promise<void> {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) {
          throw new LonghandError('unreadable', `[documents] elements are nested more than ${MAX_DEPTH} deep`);
        }
        visitor.open?.(bare(name), attributes);
      },
      ontext: (text) => visitor.text?.(text),
      onclosetag(name) {
        depth--;
        visitor.close?.(bare(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  for await (const chunk of chunks) {
    // In small steps, so that results can be handed on in between.
    for (let at = 0; at < chunk.length; at += 65_536) {
      parser.write(chunk.slice(at, at + 65_536));
      await visitor.pause?.();
    }
  }
  parser.end();
  await visitor.pause?.();
}

const bare = (name: string) => name.slice(name.indexOf(':') + 1);

/** An attribute by its name without prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  const direct = attributes[name];
  if (direct !== undefined) return direct;
  for (const [key, value] of Object.entries(attributes)) if (bare(key) === name) return value;
  return undefined;
}
