import { randomUUID } from 'node:crypto';
import { loadConfig } from '@tessera/config';
import { bodyText, entryBytes } from '@tessera/log';
import { REFUSE, Reached } from '@tessera/node';
import { openClusterLog } from '../apps/feature/src/index.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { type Column, table } from './terminal/table.js';

const USAGE = `usage: npm run log
       npm run log -- continue --from NODE
       npm run log -- refuse OFFSET

Shows the log of a cluster: its bounds, how far nodes are, and how far they have seen it. For a log
that has lost entries, and for an entry whose body is lost (docs/operate/cluster.md).
  continue --from NODE   begins the log anew, with the state of that node: what others have beyond
                         it is lost. Restart NODE, then the other nodes; their states are put aside
  refuse OFFSET          every node refuses this entry, whose body no node has applied
The cluster is that of the configuration (TESSERA_CLUSTER_LOG, _ETCD, _NAME, _LOG_STORE, ...).`;

const COLUMNS: readonly Column[] = [
  { name: 'node' },
  { name: 'offset', right: true },
  { name: 'erased up to', right: true },
  { name: 'chain' },
  { name: 'state' },
];

await runCommand(USAGE, async (words) => {
  const verb = words[0]?.startsWith('--') ? 'show' : (words[0] ?? 'show');
  const word = verb === 'refuse' ? (words[1] ?? '') : '';
  const isNamed = verb === 'show' && words[0] !== verb ? 0 : 1;
  const flags = Flags.parse(words.slice(isNamed + (word === '' ? 0 : 1)), { from: 'text' });
  const loaded = loadConfig().config;
  const node = { ...loaded.node, name: `command ${randomUUID()}` };
  const config = { ...loaded, node };
  const { opened } = openClusterLog(config);
  if (opened === undefined) return fail('TESSERA_CLUSTER_LOG', 'etcd', 'none');
  const { log, store } = opened;
  const reached = new Reached(store, config.cluster.name);
  try {
    const bounds = await log.bounds();
    if (verb === 'continue') {
      const identity = randomUUID();
      const from = flags.required('from');
      const continues = [bounds.identity, ...(await reached.logs())].filter(Boolean);
      await log.beginAnew(identity, { founder: from, continues });
      await print(
        `log ${identity} is to begin with the state of ${from}: restart it, then the others`,
      );
    } else if (verb === 'refuse') {
      const offset = Number(word);
      if (!Number.isSafeInteger(offset) || offset < 1) fail('OFFSET', 'a number from 1 on', word);
      const after = { offset: bounds.end, chain: bounds.chain ?? '' };
      const head = { key: `${REFUSE} ${offset}`, node: node.name, kind: REFUSE };
      const at = await log.append(entryBytes(head, bodyText({ offset }), after), after);
      await print(`entry ${at} refuses entry ${offset}: restart the nodes that stopped before it`);
    } else if (verb === 'show') {
      const { identity, first, end, chain = '' } = bounds;
      const seen = await reached.newest(identity);
      await print(
        `${log.place}: log ${identity || 'none'}, entries ${first} to ${end}, chain ${chain}`,
      );
      if (seen !== undefined) await print(`seen by nodes: log ${seen.log}, entry ${seen.offset}`);
      const rows = (await log.positions()).map((one) => [
        one.node,
        String(one.offset),
        String(one.erased),
        one.chain,
        one.needsSnapshot ? 'waits for a snapshot' : one.digest.slice(0, 8),
      ]);
      await print(table(COLUMNS, rows));
    } else {
      fail('command', 'continue or refuse', verb);
    }
  } finally {
    await log.close();
  }
});
