import { name, paragraph, place, quality, sentence, thing } from './prose.ts';
import { expand, type Random, repeat } from './random.ts';

//  Repetition that is meant: refrains, songs that count, clauses, quotations, line-by-line translation.

export function song(random: Random): string {
  const line = () =>
    expand(
      '{O |And |Still |}the <how> <what> {sings|sleeps|burns|waits|turns} {by|above|beyond|under} the <where>',
      random,
      {
        how: () => quality(random),
        what: () => thing(random),
        where: () => place(random),
      },
    );
  const refrain = repeat(random.between(2, 4), line).join('\n');
  const verse = () => repeat(4, line).join('\n');
  const cry = random.pick([
    'La la la la la la la la,\nla la la la la.',
    'Hey ho, hey ho, hey ho, hey ho!',
    'Na na na na, na na na na, hey hey!',
    'Row, row, row, row,',
    'Oh, oh, oh, oh, oh, oh, oh',
  ]);
  const parts = repeat(
    random.between(4, 9),
    (index) => `[Verse ${index + 1}]\n${verse()}\n\n[Chorus]\n${refrain}\n${cry}`,
  );
  return `${parts.join('\n\n')}\n\n[Outro]\n${refrain}\n${refrain}\n${cry}\n${cry}`;
}

/** Each verse keeps all that came before it and adds a line. */
export function cumulative(random: Random): string {
  const gifts = repeat(12, (index) => `${index + 1} ${quality(random)} ${thing(random)}s from the ${place(random)}`);
  const friend = name(random);
  return gifts
    .map(
      (_, day) =>
        `On day ${day + 1} of the winter ${friend} gave to me\n${gifts
          .slice(0, day + 1)
          .reverse()
          .join(',\n')}.`,
    )
    .join('\n\n');
}

export function countdown(random: Random): string {
  const what = thing(random);
  const where = place(random);
  const first = random.between(8, 40);
  return repeat(first, (index) => {
    const left = first - index;
    return `${left} old ${what}s standing in the ${where}, ${left} old ${what}s.\nIf one old ${what} should ever fall down, ${left - 1} old ${what}s in the ${where}.`;
  }).join('\n\n');
}

export function legal(random: Random): string {
  const parties = ['the Licensee', 'the Licensor', 'the Tenant', 'the Supplier', 'the Customer', 'either party'];
  const acts = [
    'assign or transfer',
    'sublicense or lease',
    'modify or adapt',
    'disclose or publish',
    'withhold or delay',
    'terminate or suspend',
    'inspect or audit',
    'store or archive',
    'charge or set off',
    'insure or replace',
  ];
  const objects = [
    'the Software',
    'this Agreement',
    'any payment due',
    'the Premises',
    'Confidential Information',
    'the Deliverables',
    'the Records',
    'the Deposit',
    'any Third-Party Material',
    'the Equipment',
  ];
  const ends = [
    'without the prior written consent of the other party',
    'except as expressly permitted by section <s>',
    'unless required to do so by applicable law',
    'for a period of <n> days after the notice was received',
    'notwithstanding any provision to the contrary in section <s>',
    'to the fullest extent permitted by law',
    'at its own cost and within <n> business days',
    'and shall keep full and accurate records of having done so',
  ];
  const slots = { s: () => `${random.between(1, 20)}.${random.between(1, 9)}`, n: () => String(random.between(3, 90)) };
  const clauses = repeat(random.between(24, 50), (index) =>
    expand(
      `${1 + Math.floor(index / 5)}.${1 + (index % 5)} Subject to section <s>, ${random.pick(parties)} shall {not |}${random.pick(acts)} ${random.pick(objects)} ${random.pick(ends)}.`,
      random,
      slots,
    ),
  );
  const warranty =
    'THE WORK IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, AND IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM ARISING FROM ITS USE.';
  const files = repeat(
    6,
    () =>
      `Files: ${thing(random)}/*\nCopyright: ${random.between(1990, 2030)} ${name(random)}\nLicense: own\n ${warranty}`,
  );
  return `${clauses.join('\n')}\n\n${files.join('\n\n')}`;
}

/** The user's text, quoted again and again with a word on each part. */
export function quoting(random: Random): string {
  const source = repeat(random.between(5, 9), () => sentence(random));
  const whole = source.join(' ');
  const remarks = source.map(
    (line) => `> ${line}\n\nThis line is ${quality(random)}: ${paragraph(random, random.between(1, 3))}`,
  );
  return `You wrote:\n\n> ${whole}\n\n${remarks.join('\n\n')}\n\nHere is your text again, corrected:\n\n${whole.replace(/,/g, ';')}\n\nAnd without any change:\n\n${whole}`;
}

export function translation(random: Random): string {
  const pairs: [string, string][] = [
    ['The house is small.', 'Das Haus ist klein.'],
    ['The dog sleeps.', 'Der Hund schläft.'],
    ['We drink water.', 'Wir trinken Wasser.'],
    ['Where is the station?', 'Wo ist der Bahnhof?'],
    ['I would like a ticket.', 'Ich hätte gern eine Fahrkarte.'],
    ['The train is late.', 'Der Zug hat Verspätung.'],
    ['Can you help me?', 'Können Sie mir helfen?'],
    ['It is raining today.', 'Heute regnet es.'],
    ['My brother works in a bakery.', 'Mein Bruder arbeitet in einer Bäckerei.'],
    ['She reads a book.', 'Sie liest ein Buch.'],
    ['They have two children.', 'Sie haben zwei Kinder.'],
    ['The window is open.', 'Das Fenster ist offen.'],
    ['Please close the door.', 'Bitte schließen Sie die Tür.'],
    ['Tomorrow is Sunday.', 'Morgen ist Sonntag.'],
    ['He forgot his umbrella.', 'Er hat seinen Regenschirm vergessen.'],
  ];
  const rows = repeat(random.between(20, 40), (index) => {
    const [english, german] = random.pick(pairs);
    const note = random.next() < 0.4 ? `\nNote: ${sentence(random)}` : '';
    return `${index + 1}. English: ${english}\n   German: ${german}${note}`;
  });
  return rows.join('\n');
}
