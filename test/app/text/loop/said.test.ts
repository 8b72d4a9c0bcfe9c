import { expect, test } from 'vitest';
import type { Finding, GuardOptions } from '../../../../app/text/loop/finding.ts';
import type { Place } from '../../../../app/text/loop/levels.ts';
import { LoopGuard } from '../../../../app/text/loop/loop-detector.ts';
import { loops, sound } from './corpus/index.ts';
import reworded from './corpus/reworded.json' with { type: 'json' };
import { listsOf } from './lists/lists.ts';
import { tokens } from './tokens.ts';

//  What a user is told of loops of every kind, line by line: how sure, which copies, from where to where, and what they cost. After a change that
//  is meant to say something else, look at what differs and write it anew: npx vitest run --config test/vitest.config.ts loop/said -u

const line = ({ degree, kind, repeats, periodTokens, startToken, endToken, spentTokens, times, text }: Finding) =>
  `  ${degree} ${kind} ${repeats} of ${periodTokens}, ${startToken} to ${endToken}, ${spentTokens} spent, ${times}: ` +
  JSON.stringify(text.length > 60 ? `${text.slice(0, 28)}…${text.slice(-28)}` : text);

/** The first findings of a text; whoever reads goes on after each. */
function saidOf(name: string, text: string, place: Place, options: Partial<GuardOptions> = {}): string[] {
  const guard = new LoopGuard({ sensitivity: 'balanced', inAnswers: true, ...options });
  const said: string[] = [];
  for (const piece of tokens(text, 'words')) {
    const found = guard.push(piece.id, piece.text, place);
    if (found?.degree === 'card') guard.act(found.repeats);
    if (found && said.push(line(found)) === 3) break;
  }
  return said.length === 0 ? [] : [`${name}, ${place}`, ...said];
}

const some = <Item>(items: readonly Item[], step: number) => items.filter((_, at) => at % step === step - 1);

test('what is said of loops is said word for word, at the same token and with the same figures', async () => {
  const said = [
    ...some(loops(), 11).flatMap(({ name, lead, loop, where }) => saidOf(name, lead + loop, where)),
    ...some(loops(), 43).flatMap(({ name, lead, loop, where }) =>
      (['strict', 'relaxed'] as const).flatMap((sensitivity) =>
        saidOf(`${name}, ${sensitivity}`, lead + loop, where, { sensitivity }),
      ),
    ),
    ...some(listsOf('held-out'), 3).flatMap(({ prompt, text }) =>
      saidOf(prompt.slice(0, 60), text, 'answer', { question: prompt }),
    ),
    ...some(sound(), 5).flatMap(({ name, text }) => saidOf(name, text, 'thinking')),
    ...reworded.flatMap(({ lead, copies }, at) =>
      saidOf(`reworded-${at}`, [lead, ...copies, ''].join('\n\n'), 'thinking'),
    ),
  ];
  await expect(`${said.join('\n')}\n`).toMatchFileSnapshot('said.txt');
});
