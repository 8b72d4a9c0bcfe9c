import { name, place, quality, sentence, thing } from './prose.ts';
import { type Random, repeat } from './random.ts';

//  Tables, records, encodings, boards and drawings.

export function json(random: Random): string {
  const equal = random.next() < 0.3;
  const size = random.between(12, 40);
  const records = repeat(size, (index) =>
    equal
      ? `    { "id": ${index}, "x": 0, "y": 0, "visible": true, "children": [] }`
      : `    {\n      "id": ${index},\n      "name": "${name(random)}",\n      "city": "${place(random)}",\n      "score": ${random.below(1000)},\n      "active": ${random.next() < 0.5},\n      "tags": ["${thing(random)}", "${quality(random)}"]\n    }`,
  );
  return `\`\`\`json\n{\n  "total": ${size},\n  "items": [\n${records.join(',\n')}\n  ]\n}\n\`\`\``;
}

export function csv(random: Random): string {
  const rows = repeat(random.between(40, 120), (index) =>
    [
      index + 1,
      name(random),
      place(random),
      random.below(100),
      random.next() < 0.6 ? '0.00' : `${random.below(90)}.50`,
      '',
      'yes',
    ].join(','),
  );
  return `id,name,place,count,price,note,paid\n${rows.join('\n')}`;
}

export function table(random: Random): string {
  const rows = repeat(random.between(15, 40), () =>
    random.next() < 0.2
      ? '| | | | |'
      : `| ${name(random)} | ${thing(random)} | ${random.below(500)} | ${random.next() < 0.5 ? 'yes' : 'no'} |`,
  );
  const empty = repeat(random.between(4, 10), () => '| Monday | | | |');
  return `| Name | Thing | Price | Sold |\n| --- | --- | ---: | :---: |\n${rows.join('\n')}\n\nAn empty one to fill in:\n\n| Day | Morning | Noon | Evening |\n|---|---|---|---|\n${empty.join('\n')}`;
}

export function list(random: Random): string {
  const entries = repeat(random.between(25, 60), (index) => {
    const sort = random.below(3);
    if (sort === 0) return `${index + 1}. **${quality(random)} ${thing(random)}**: ${sentence(random)}`;
    if (sort === 1) return `${index + 1}. The ${thing(random)} from the ${place(random)}`;
    return `${index + 1}. ${name(random)} brings the ${quality(random)} ${thing(random)} to the ${place(random)}.`;
  });
  const tasks = repeat(20, () => `- [ ] Ask ${name(random)} about the ${thing(random)}`);
  return `${entries.join('\n')}\n\n${tasks.join('\n')}`;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const letters = (random: Random, from: string, length: number) =>
  repeat(length, () => from.charAt(random.below(from.length))).join('');

export function encoded(random: Random): string {
  const lines = repeat(random.between(20, 50), () =>
    random.next() < 0.12 ? 'A'.repeat(76) : letters(random, alphabet, 76),
  );
  const quiet = repeat(random.between(2, 6), () => 'A'.repeat(76));
  lines.splice(random.below(lines.length), 0, ...quiet);
  return `-----BEGIN DATA-----\n${lines.join('\n')}\n-----END DATA-----`;
}

export function hexdump(random: Random): string {
  return repeat(random.between(30, 60), (index) => {
    const empty = random.next() < 0.45;
    const bytes = repeat(16, () => (empty ? '00' : letters(random, '0123456789abcdef', 2)));
    return `${(index * 16).toString(16).padStart(8, '0')}  ${bytes.slice(0, 8).join(' ')}  ${bytes.slice(8).join(' ')}  |${empty ? '.'.repeat(16) : letters(random, 'abc.xyz..QR?', 16)}|`;
  }).join('\n');
}

export function chess(random: Random): string {
  const piece = ['N', 'B', 'R', 'Q', 'K', ''];
  const square = () => `${'abcdefgh'.charAt(random.below(8))}${1 + random.below(8)}`;
  const move = () =>
    `${random.pick(piece)}${random.next() < 0.2 ? 'x' : ''}${square()}${random.next() < 0.1 ? '+' : ''}`;
  const game = repeat(random.between(40, 90), (index) => `${index + 1}. ${move()} ${move()}`).join(' ');
  const shuffle = repeat(random.between(3, 8), (index) => `${91 + index * 2}. Kg1 Kg8 ${92 + index * 2}. Kh1 Kh8`).join(
    ' ',
  );
  const board = repeat(
    8,
    (rank) =>
      `${8 - rank} | ${rank > 1 && rank < 6 ? '. . . . . . . .' : letters(random, 'rnbqkp', 8).split('').join(' ')} |`,
  );
  return `${game} ${shuffle}\n\n  +-----------------+\n${board.join('\n')}\n  +-----------------+\n    a b c d e f g h`;
}

export function drawing(random: Random): string {
  const width = random.between(20, 78);
  const rule = random.pick(['-', '=', '*', '#', '~', '_', '─', '═', '░', '.']).repeat(width);
  const sides = random.pick(['|', '#', '*', '║']);
  const blank = `${sides}${' '.repeat(width - 2)}${sides}`;
  const box = [
    rule,
    ...repeat(random.between(3, 9), () => blank),
    `${sides}   ${thing(random)}`.padEnd(width - 1) + sides,
    ...repeat(random.between(3, 9), () => blank),
    rule,
  ];
  const tree = repeat(random.between(6, 14), (row) => ' '.repeat(20 - row) + '*'.repeat(1 + 2 * row));
  const maze = repeat(12, () => letters(random, '##  ##  # ', 32));
  const bars = repeat(12, () => `${name(random).padEnd(6)} ${'█'.repeat(random.between(2, 40))} ${random.below(100)}%`);
  return [box, tree, maze, bars].map((lines) => lines.join('\n')).join('\n\n');
}
