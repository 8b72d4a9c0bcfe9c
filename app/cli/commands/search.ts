import { SourceId } from '../../protocol/index.ts';
import { table } from '../runtime/arguments.ts';
import { command } from '../runtime/command.ts';
import { DATA_FLAG, withCore } from '../runtime/with-core.ts';

export const search = command({
  name: 'search',
  summary: 'Search the hub for models. Only your search words are sent.',
  usage: 'WORDS',
  words: [1, 20],
  flags: {
    ...DATA_FLAG,
    source: {
      kind: 'text',
      value: 'NAME',
      oneOf: SourceId.options,
      help: 'where to search (default: the hub or its mirror)',
    },
    limit: { kind: 'count', value: 'N', help: 'maximum number of results (default: 20)' },
  },
  async run(context, values, words) {
    const source = values.source === undefined ? {} : { source: SourceId.parse(values.source) };
    const found = await withCore(context, values.data, (client) =>
      client.call('models.search', { text: words.join(' '), limit: values.limit ?? 20, ...source }),
    );
    if (context.json) context.terminal.out(`${JSON.stringify({ models: found })}\n`);
    else if (found.length === 0) context.terminal.note('No results.');
    else {
      const rows = found.map(({ name, downloads, gated }) => [
        name,
        `${downloads ?? '–'}`,
        gated ? 'needs a token' : '',
      ]);
      context.terminal.out(`${table([['model', 'downloads', ''], ...rows])}\n`);
    }
    return 0;
  },
});
