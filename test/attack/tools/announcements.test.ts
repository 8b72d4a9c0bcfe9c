import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createConnection, type Offer } from '../../../app/tools/mcp/connection.ts';
import { written } from '../../app/tools/tool-servers.ts';
import { newFolder } from '../../support/core/core.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Programs that announce without end that their lists have changed, or use it to be asked, started or ended.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('toolServers');

const MAX_GROWTH = 400e6;
const MAX_STALL_MS = 200;
const WATCHED_MS = 2300;

const CHANGING = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } };
const STATIC = { tools: {}, prompts: {}, resources: {} };

const announce = (...kinds: string[]) => kinds.map((kind) => `announce(${JSON.stringify(kind)});`).join(' ');
const flood = (...kinds: string[]) =>
  `setInterval(() => { for (let at = 0; at < 50; at++) { ${announce(...kinds)} } }, 20);`;

type Attack = {
  /** Before the first message. */
  before?: string;
  /** Once it is listed; `times` counts the listings. */
  listed?: string;
  tools?: string;
  capabilities?: object;
  /** Listings in the time that is watched, the first one that is asked for among them. */
  most: number;
  least?: number;
  ends?: boolean;
};

const attacks: Readonly<Record<string, Attack>> = {
  'tools that change without end': { before: flood('tools'), most: 4, least: 2 },
  'prompts that change without end': { before: flood('prompts'), most: 4, least: 2 },
  'resources that change without end': { before: flood('resources'), most: 1 },
  'everything changes without end': { before: flood('tools', 'prompts', 'resources'), most: 4, least: 2 },
  'changes of one that has said it does not change': {
    before: flood('tools', 'prompts'),
    capabilities: STATIC,
    most: 1,
  },
  'lists that change by being read': { listed: announce('tools', 'prompts'), most: 4, least: 2 },
  'a change, and the end': {
    listed: `setTimeout(() => { ${announce('tools')} process.exit(0); }, 500);`,
    most: 1,
    ends: true,
  },
  'a change, and the end when it is listed': {
    listed: `if (times === 1) setTimeout(() => { ${announce('tools')} }, 200); else process.exit(3);`,
    most: 2,
    ends: true,
  },
  'a change, and silence': {
    listed: `setTimeout(() => { ${announce('tools')} }, 100);`,
    tools: `times === 1 ? tools : null`,
    most: 2,
  },
  'a change to no list': {
    listed: `setTimeout(() => { ${announce('tools')} }, 100);`,
    tools: `times === 1 ? tools : 7`,
    most: 4,
  },
  'a change to a hundred thousand tools': {
    listed: `if (times === 1) setTimeout(() => { ${announce('tools')} }, 100);`,
    tools: `times === 1 ? tools : Array(100000).fill(tools[0])`,
    most: 2,
  },
};

function program({ before = '', listed = '', tools = 'tools', capabilities = CHANGING }: Attack, starts: string) {
  const [file = ''] = written(
    newFolder(),
    `else if (method === 'tools/list') {
       times++;
       process.stderr.write('listed\\n');
       const now = ${tools};
       if (now !== null) send(id, { tools: now });
       ${listed}
     }
     else if (method === 'prompts/list') send(id, { prompts: [] });
     else if (method === 'tools/call') send(id, { content: [{ type: 'text', text: 'gone' }] });`,
    `import { appendFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(starts)}, 'x');
     let times = 0;
     const announce = (kind) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/' + kind + '/list_changed' }) + '\\n');
     ${before}`,
    capabilities,
  );
  return { command: process.execPath, args: [file], env: {} };
}

test('lists that change: read once a second at most, and never a reason to start a program again', async () => {
  for (const [what, attack] of Object.entries(attacks))
    await tally.refused(`announced: ${what}`, async () => {
      const starts = join(newFolder(), 'starts');
      appendFileSync(starts, '');
      const offers: Offer[] = [];
      const connection = createConnection({
        version: '1',
        config: async () => program(attack, starts),
        fetch,
        changed: () => {},
        offered: (offer) => offers.push(offer),
      });
      onTestFinished(() => connection.close());
      const stop = observe();
      await connection.offer();
      await wait(WATCHED_MS);
      const { grown, stall } = stop();
      const listings = connection.log().filter((line) => line === 'listed').length;
      expect(listings).toBeLessThanOrEqual(attack.most);
      expect(listings).toBeGreaterThanOrEqual(attack.least ?? 1);
      for (const { tools } of offers) expect(tools.length).toBeLessThanOrEqual(200);
      expect(readFileSync(starts, 'utf8')).toBe('x');
      expect(grown).toBeLessThan(MAX_GROWTH);
      expect(stall).toBeLessThan(MAX_STALL_MS);
      // Lists that nobody asked for end nothing.
      if (attack.ends) expect(connection.state()).toMatchObject({ status: 'failed' });
      else expect(await connection.call({ name: 'go' }, {}, AbortSignal.timeout(5000))).toMatchObject({ text: 'gone' });
      await connection.close();
    });
  tally.settle();
});
