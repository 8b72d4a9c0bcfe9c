import { paragraph, sentence } from './prose.ts';
import { expand, type Random, repeat, seeded } from './random.ts';
import recordings from './recorded.json' with { type: 'json' };

/** A text that begins sound and then goes in circles. `lead` is the sound part, `cycle` the characters of the first copy. */
export interface Loop {
  readonly name: string;
  readonly kind: string;
  readonly where: 'thinking' | 'answer';
  readonly lead: string;
  readonly loop: string;
  readonly cycle: number;
}

//  Things a reasoning model says when it is stuck. `{a|b}` varies from copy to copy where the kind of loop wants it.
const doubts = [
  '{Wait|Hmm|But wait|Hold on}, {let me|I should|I need to} {check|verify|recheck} the second equation {again|once more}. It gives x plus y equals twelve, {but|while|and yet} the first one says {thirteen|that it is thirteen}.',
  '{Actually|No|But}, the problem says that the boat leaves before noon, {so|which means that} the train {cannot|can not} be the answer. {But|Though|However} the ticket is for the train, so {maybe|perhaps} the boat is wrong.',
  'The {word|string} has {five|exactly five} letters, {so|and so} it {can|could} be "crane". {But|Yet} "crane" {does not fit|fails to fit|does not match} the third clue, so it must be {something else|another word}.',
  'If Cem is at seat three, Dana is at seat six. {If|And if|But if} Cem is at seat six, Dana is at seat three. {Either way|In both cases} they sit opposite. {Let me check|Let me look at|I will check} Bo again.',
  'The function returns null {when|whenever|if} the list is empty. {So|Therefore|Hence} the caller {must|has to|should} check for null. {But|However|Yet} the caller never {sees|gets} an empty list, {so|therefore} it need not.',
  '{I think|I believe|It seems that} the user {wants|is asking for|would like} a short answer. {But|However} the question {is|looks|seems} complicated, so {maybe|perhaps} a long answer is {better|the right one}. {Let me think|Let me reconsider}.',
  'The capital of the province {is|would be} the city with the {old|ancient} harbour. {Wait|No}, the city with the harbour is the {largest|biggest} city, not the capital. {So|Then} which {city|one} is the capital?',
  '{First|Okay, first}, the red ball goes into the left box. Then the blue ball {goes into|is put in} the right box. {That leaves|This leaves} the green ball, {which|and it} must go left, but left is {full|taken}.',
  'The sum of the digits is {eighteen|18}, so the number is divisible by nine. {It should|It must} also be even. {Then|So} the last digit is even, and {again|once more} the sum of the digits is {eighteen|18}.',
  '{Perhaps|Maybe} I {misread|misunderstood|have misread} the question. The question asks for the {smallest|least} number, {but|and} I {looked for|was looking for} the largest. Let me {read|go through} it again {carefully|with care}.',
  '{So|Now} the answer {is|should be|must be} Tuesday. {But|However}, if today is Friday, {then|in that case} four days later is Tuesday, {and|while} four days earlier is Monday. {Hmm|Well}, which {direction|way} does the question mean?',
  'The {loop|while loop} ends when the counter reaches {ten|10}. {But|Yet} the counter is reset {inside|within} the {body|loop body}, so it {never reaches|cannot reach} {ten|10}. {Unless|Except that} the reset is skipped on the first pass.',
  '{Alternatively|Or}, the poem could be about the sea. The sea is {a symbol of|an image for} freedom, {though|but} the poem {speaks|talks} of walls. {Walls|These walls} are not the sea. {So|And so} the poem is about something else.',
  'I {need|have} to {return|give back|output} the JSON object. The JSON object {must|should} have the key "name". {But|However} the key "name" is not in the schema, so I {cannot|must not} return it.',
  '{Let me|I will} {assume|suppose} that the speed is constant. {Then|In that case} the distance is speed times time. {But|However} the speed is not constant, so {that|this} does not {work|hold}.',
];
const attempts = [
  'Attempt <n>: multiply the two sides and compare. The result does not match, so try again.\n',
  'Let me try again (try <n>). The left side is 24 and the right side is 26, so this is not it.\n',
  '<n>. Check whether the word fits the clue: it has the right length but the wrong first letter.\n',
  'Iteration <n>: the guess is too high, so lower it a little and look at the difference.\n',
  'Step <n>: go back to the beginning of the list and compare each pair of neighbours. ',
  'Version <n> of the sentence: The old mill stood quietly by the river in the evening light.\n\n',
  'For the <n>th time, the condition says that Ada may not sit next to Bo, so move Bo. ',
  'Check number <n>. The parity is odd, the parity should be even, therefore something is wrong. ',
  'In case <n> the argument is the same as before, and case <n> gives nothing new. ',
  '- Option <n>: leave the file as it is and ask the user what to do with it.\n',
  '[<n>] The function is called with the same argument again and returns the same value.\n',
  'Round <n> begins. Nobody moves, nobody trades, and the round ends without a winner. ',
];
const unicode = [
  '让我再检查一遍第二个方程。结果还是十二，但是应该是十三。',
  'これは正しくないかもしれません。もう一度最初から確認します。',
  'Подождите, нужно проверить второе уравнение ещё раз. Получается двенадцать, а должно быть тринадцать. ',
  'انتظر، يجب أن أتحقق من المعادلة الثانية مرة أخرى. ',
  'Moment, ich prüfe die zweite Gleichung noch einmal. Das Ergebnis bleibt zwölf, müsste aber dreizehn sein. ',
  'Un instante, déjame revisar la segunda ecuación. Da doce, pero debería dar trece. ',
  '잠깐만요, 두 번째 방정식을 다시 확인해 보겠습니다. ',
  'एक मिनट, मैं दूसरे समीकरण को फिर से देखता हूँ। ',
  '🙂👍🎉',
  'Čekej, ještě jednou zkontroluji druhou rovnici. Vychází dvanáct. ',
  'রুকুন, আমি আবার দেখছি। ',
  'Περίμενε, ας ελέγξω ξανά τη δεύτερη εξίσωση. ',
];
const singles = [
  ' the',
  ' again',
  ' no',
  'ha',
  ' very',
  '\n',
  '!',
  ' I',
  ' and',
  '.',
  ' wait',
  '0',
  ' so',
  ' 1',
  'a',
  '的',
  ' ok',
  ' =',
  ' is',
  '🙂',
  ' yes',
  '-',
  ' x',
  ' really',
];

const start = (random: Random) => `${paragraph(random, random.between(0, 12))}\n\n`;
const where = (random: Random) => (random.next() < 0.65 ? 'thinking' : 'answer');
const LENGTH = 4000;

function copies(make: (index: number) => string): { loop: string; cycle: number } {
  const first = make(0);
  let loop = first;
  for (let index = 1; loop.length < LENGTH + 6 * first.length; index++) loop += make(index);
  return { loop, cycle: first.length };
}

function exact(random: Random): string {
  const sort = random.below(5);
  if (sort === 0) return `${expand(random.pick(doubts), random)} `;
  if (sort === 1) return `${paragraph(random, random.between(2, 5))}\n\n`;
  if (sort === 2) return ` ${sentence(random).split(' ').slice(0, random.between(2, 5)).join(' ')}`;
  if (sort === 3) return `- ${sentence(random)}\n`;
  return `${sentence(random)} `;
}

/** Each copy differs from the one before in one or two words, and so wanders slowly. */
function drift(random: Random): (index: number) => string {
  const words = `${expand(random.pick(doubts), random)} ${sentence(random)}`.split(' ');
  const spare = [
    'really',
    'still',
    'just',
    'indeed',
    'also',
    'then',
    'now',
    'perhaps',
    'simply',
    'once',
    'here',
    'thus',
  ];
  return (index) => {
    if (index > 0) {
      for (let edit = random.between(1, 2); edit > 0; edit--) {
        const at = random.below(words.length - 1);
        if (random.next() < 0.5) words[at] = random.pick(spare);
        else if (spare.includes(words[at] ?? '')) words.splice(at, 1);
        else words.splice(at, 0, random.pick(spare));
      }
    }
    return `${words.join(' ')}\n`;
  };
}

function pingPong(random: Random): (index: number) => string {
  const one = expand(random.pick(doubts), random);
  const other = sentence(random);
  const link = ['But then ', 'On the other hand, ', 'And yet, ', 'Then again, '];
  const fixed = random.pick(link);
  const varied = random.next() < 0.5;
  return () => `${one} ${varied ? random.pick(link) : fixed}${other}\n`;
}

/** A few things said over and over, worded anew each time. */
function paraphrases(random: Random): (index: number) => string {
  const first = random.below(doubts.length);
  const chosen = repeat(random.between(1, 3), (step) => doubts[(first + step * 4) % doubts.length] ?? '');
  return () => `${chosen.map((pattern) => expand(pattern, random)).join(' ')}${random.next() < 0.5 ? '\n\n' : ' '}`;
}

function make(kind: string, index: number): Loop {
  const name = `${kind}-${index}`;
  const random = seeded(`loop ${name}`);
  const lead = start(random);
  const common = { name, kind, where: where(random), lead } as const;
  switch (kind) {
    case 'exact': {
      const text = exact(random);
      return { ...common, ...copies(() => text) };
    }
    case 'drifting':
      return { ...common, ...copies(drift(random)) };
    case 'counting': {
      const pattern = attempts[index % attempts.length] ?? '';
      const first = random.between(1, 40);
      return {
        ...common,
        where: 'thinking',
        ...copies((n) => expand(pattern, random, { n: () => String(first + n) })),
      };
    }
    case 'paraphrase':
      return { ...common, where: 'thinking', ...copies(paraphrases(random)) };
    case 'ping-pong':
      return { ...common, ...copies(pingPong(random)) };
    case 'unicode': {
      const text = unicode[index % unicode.length] ?? '';
      return { ...common, ...copies(() => text) };
    }
    case 'single token': {
      const text = singles[index % singles.length] ?? '';
      return { ...common, ...copies(() => text) };
    }
    default:
      throw new Error(`[corpus] no loops of kind "${kind}"`);
  }
}

const counts = {
  exact: 120,
  drifting: 60,
  counting: 60,
  paraphrase: 60,
  'ping-pong': 50,
  unicode: 36,
  'single token': 48,
};

/** Written by the starter and by SmolLM2-135M at temperature 0, going on from the prose of this corpus or answering a
 *  question; found by the exact period of their last tokens, not by the detector. */
function recorded(): Loop[] {
  return recordings.map(({ model, where, lead, once }, index) => ({
    name: `recorded-${model}-${index}`,
    kind: 'recorded',
    where: where === 'thinking' ? 'thinking' : 'answer',
    lead,
    ...copies(() => once),
  }));
}

export const loops = (): Loop[] => [...generated(), ...recorded()];

const generated = (): Loop[] =>
  Object.entries(counts).flatMap(([kind, count]) => repeat(count, (index) => make(kind, index)));
