import type { Block } from '../../protocol/index.ts';
import { ToolError } from '../tool.ts';

//  Text that is too long for one result is read in parts.

/** Characters of a part. */
const PART = 8000;

/** Splits at block boundaries where possible; never yields empty parts. */
export function partsOf(blocks: readonly Block[]): string[] {
  const parts = [''];
  for (const block of blocks) {
    const text = textOf(block);
    if ((parts.at(-1)?.length ?? 0) + text.length > PART && parts.at(-1) !== '') parts.push('');
    for (let at = 0; at < text.length; at += PART) {
      if (at > 0) parts.push('');
      parts[parts.length - 1] += text.slice(at, at + PART);
    }
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** The part that a call asks for, under a line that says which it is. @throws ToolError `arguments` */
export function chosenPart(parts: readonly string[], given: unknown, name: string): string {
  const part = given === undefined ? 1 : Number(given);
  const text = parts[part - 1];
  if (text !== undefined) return `${name}, part ${part} of ${parts.length}\n\n${text}`;
  throw new ToolError('arguments', `"part" is ${given}; "${name}" has ${parts.length} parts`);
}

export const PART_PARAMETER = { type: 'integer', description: 'Which part, counted from 1' };

const textOf = ({ kind, level = 1, text }: Block): string =>
  kind === 'heading'
    ? `${'#'.repeat(level)} ${text}\n\n`
    : kind === 'item'
      ? `- ${text}\n`
      : kind === 'row'
        ? `${text}\n`
        : `${text}\n\n`;
