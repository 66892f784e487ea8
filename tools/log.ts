import { randomUUID } from 'node:crypto';
import { loadConfig } from '@tessera/config';
import { bodyText, type ClusterLog, entryBytes, type LogBounds } from '@tessera/log';
import { GIVE_UP, giveUpListed, PART_NAMES, type PartName, REFUSE, Reached } from '@tessera/node';
import { openClusterLog, pendingErasuresOf } from '../apps/feature/src/index.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { type Column, table } from './terminal/table.js';

const USAGE = `usage: npm run log
       npm run log -- continue --from NODE
       npm run log -- refuse OFFSET
       npm run log -- give-up OFFSET STORE

Shows the log of a cluster: its bounds, how far nodes are, and how far they have seen it. For a log
that has lost entries, and for an entry whose body is lost (docs/operate/cluster.md). A process
without a log has give-up alone, while it is stopped.
  continue --from NODE   begins the log anew, with the state of that node: what others have beyond
                         it is lost. Restart NODE, then the other nodes; their states are put aside
  refuse OFFSET          every node refuses this entry, which no node can apply: its body is lost,
                         or its kind is of a release that nobody runs; waiting nodes go on. Where
                         a node has applied it, restart the others instead
  give-up OFFSET STORE   this erasure counts without a store that refuses it, on each node that
                         still waits: ${PART_NAMES.join(', ')}
The cluster is that of the configuration (TESSERA_CLUSTER_ETCD, _NAME, _LOG_STORE, ...).`;

const COLUMNS: readonly Column[] = [
  { name: 'node' },
  { name: 'offset', right: true },
  { name: 'erased up to', right: true },
  { name: 'but for' },
  { name: 'chain' },
  { name: 'state' },
];

/** Appends an act of a person. */
async function put(log: ClusterLog, node: string, kind: string, body: object): Promise<number> {
  const { end, chain = '' } = await log.bounds();
  const after = { offset: end, chain };
  const head = { key: `${kind} ${JSON.stringify(body)}`, node, kind };
  return log.append(entryBytes(head, bodyText(body), after), after);
}

/** Nodes that have applied an entry have another state than those that refuse it. */
async function checkNobodyHas(log: ClusterLog, offset: number): Promise<void> {
  const ahead = (await log.positions()).filter((one) => one.offset >= offset);
  if (ahead.length === 0) return;
  const names = ahead.map(({ node }) => node).join(', ');
  fail(
    'OFFSET',
    'an entry that no node has applied',
    `${offset}, which ${names} has: restart the others, which take its state`,
  );
}

async function show(log: ClusterLog, bounds: LogBounds, reached: Reached): Promise<void> {
  const { identity, first, end, chain = '' } = bounds;
  const seen = (await reached.all()).find((one) => one.log === identity);
  await print(
    `${log.place}: log ${identity || 'none'}, entries ${first} to ${end}, chain ${chain}`,
  );
  if (seen !== undefined) await print(`seen by nodes: log ${seen.log}, entry ${seen.offset}`);
  const rows = (await log.positions()).map((one) => [
    one.node,
    String(one.offset),
    String(one.erased),
    one.open.join(' '),
    one.chain,
    one.standing === 'serving' ? one.digest.slice(0, 8) : one.standing,
  ]);
  await print(table(COLUMNS, rows));
}

/** OFFSET of the command line. */
function offsetOf(word: string, least = 1): number {
  const offset = Number(word);
  if (word !== '' && Number.isSafeInteger(offset) && offset >= least) return offset;
  return fail('OFFSET', `a number from ${least} on`, word);
}

/** STORE of the command line. */
function storeOf(word: string): PartName {
  const name = PART_NAMES.find((known) => known === word);
  return name ?? fail('STORE', PART_NAMES.join(' or '), word);
}

await runCommand(USAGE, async (words) => {
  const verb = words[0]?.startsWith('--') ? 'show' : (words[0] ?? 'show');
  const isAct = verb === 'refuse' || verb === 'give-up';
  const word = isAct ? (words[1] ?? '') : '';
  const part = verb === 'give-up' ? (words[2] ?? '') : '';
  const isNamed = verb === 'show' && words[0] !== verb ? 0 : 1;
  const flags = Flags.parse(words.slice(isNamed + (word === '' ? 0 : 1) + (part === '' ? 0 : 1)), {
    from: 'text',
  });
  const loaded = loadConfig().config;
  const node = { ...loaded.node, name: `command ${randomUUID()}` };
  const config = { ...loaded, node };
  const { opened } = openClusterLog(config);
  if (opened === undefined) {
    if (verb !== 'give-up') return fail('TESSERA_CLUSTER_LOG_STORE', 'that of the nodes', 'none');
    const [offset, store] = [offsetOf(word, 0), storeOf(part)];
    await giveUpListed(await pendingErasuresOf(loaded), offset, store);
    await print(`erasure ${offset} counts without ${store}`);
    return;
  }
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
    } else if (isAct) {
      const offset = offsetOf(word);
      const isRefusal = verb === 'refuse';
      if (isRefusal) await checkNobodyHas(log, offset);
      else storeOf(part);
      const kind = isRefusal ? REFUSE : GIVE_UP;
      const at = await put(log, node.name, kind, isRefusal ? { offset } : { offset, part });
      await print(`entry ${at}: ${isRefusal ? 'refuses' : `gives ${part} up for`} entry ${offset}`);
    } else if (verb === 'show') {
      await show(log, bounds, reached);
    } else {
      fail('command', 'continue, refuse or give-up', verb);
    }
  } finally {
    await log.close();
  }
});
