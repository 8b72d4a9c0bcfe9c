import { posix } from 'node:path';
import { isTelling } from '../title.ts';
import type { Archive } from './archive.ts';
import { attribute, walkXml } from './xml.ts';

//  Common to the Office formats (ECMA-376, part 2): relationships between parts, and the title.

/** Relationships of a part (of the package: ''), by id: the target part. */
export async function relationsOf(
  archive: Archive,
  part: string,
): Promise<Map<string, { part: string; type: string }>> {
  const relations = new Map<string, { part: string; type: string }>();
  const text = await archive.find(posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`));
  if (text === null) return relations;
  await walkXml([text], {
    open(name, attributes) {
      const { Id, Target, Type = '', TargetMode } = attributes;
      if (name !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
      relations.set(Id, { part: target, type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
  });
  return relations;
}

/** The main part, to which the package's own relationships refer. */
export async function mainPart(archive: Archive, usual: string): Promise<string> {
  const relations = await relationsOf(archive, '');
  const main = [...relations.values()].find(({ type }) => type === 'officeDocument');
  return main && archive.has(main.part) ? main.part : usual;
}

/** The title in the document properties. */
export async function titleOf(archive: Archive, part = 'docProps/core.xml'): Promise<string | null> {
  const text = await archive.find(part);
  if (text === null) return null;
  let inside = false;
  let title = '';
  await walkXml([text], {
    open(name) {
      inside = name === 'title' && title === '';
    },
    text(piece) {
      if (inside) title += piece;
    },
    close() {
      inside = false;
    },
  });
  const trimmed = title.replace(/\s+/g, ' ').trim();
  return trimmed.length >= 3 && isTelling(trimmed) ? trimmed : null;
}

export const isOn = (attributes: Readonly<Record<string, string>>) =>
  !['0', 'false', 'off', 'none'].includes(attribute(attributes, 'val') ?? 'true');
