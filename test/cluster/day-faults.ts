/** Faults of a cluster's days that need more than a process that ends. */

import { readdirSync, readFileSync } from 'node:fs';
import { pace } from '../trial/pace.js';
import { beginningOf, storedEntry, withLog } from './appended-entries.js';
import { codeOf } from './cluster-callers.js';
import type { Cut } from './cut-proxy.js';
import { type DayParts, erase, one } from './day-writers.js';
import type { RealCluster } from './real-cluster.js';

const CUTS: readonly Cut[] = ['requests', 'answers', 'both'];
const CUT_MS = { least: 2000, more: 5000 };
const BEHIND_MS = 1500;
const OLDER_MS = 3000;
const RECALLS_BESIDE = 20;

/**
 * The log is an older copy for a while in which a node goes on that was held up meanwhile, and
 * has not seen the lost entries. Nothing may be acknowledged then, since the newer log comes back.
 */
export async function olderLogBesideHeld(cluster: RealCluster, node: string): Promise<void> {
  const older = await cluster.copyLog();
  cluster.hold(node);
  await pace(BEHIND_MS);
  const newer = await cluster.swapLog(older);
  cluster.goOn(node);
  await pace(OLDER_MS);
  await cluster.swapLog(newer);
  for (const name of cluster.nodes) {
    await cluster.end(name, 'SIGTERM');
    await cluster.begin(name);
  }
}

/** Between a node and the server of the log. */
export async function cutLink(cluster: RealCluster, node: string, parts: DayParts): Promise<void> {
  const link = cluster.linkOf(node);
  link.set(one(parts.random, CUTS));
  await pace(CUT_MS.least + parts.random.below(CUT_MS.more));
  link.set('none');
}

/** Processes whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  const parentOf = (one: string) => {
    try {
      // pid (name) state parent ...
      return Number(readFileSync(`/proc/${one}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
    } catch {
      return undefined;
    }
  };
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((name) => parentOf(name) === pid).map(Number);
}

/** A child of a node does not answer any more, while a user is erased: the node ends it. */
export async function hungChild(
  cluster: RealCluster,
  node: string,
  parts: DayParts,
  isOver: () => boolean,
): Promise<void> {
  const { random, model, endpoints, faults } = parts;
  const children = childrenOf(cluster.pidOf(node));
  if (children.length === 0) {
    faults.push(`${node}: expected children, got none`);
    return;
  }
  cluster.hang(one(random, children));
  const known = model.users.filter(({ isGoing }) => !isGoing);
  if (known.length > 0) await erase(parts, one(random, known), endpoints, isOver);
}

/**
 * An entry whose body nobody has: recalls go on at every node while changes wait, until a person
 * refuses it.
 */
export async function lostBody(cluster: RealCluster, parts: DayParts): Promise<void> {
  const { callers, faults } = parts;
  const offset = await withLog(cluster, async (log) =>
    log.append(storedEntry(`entries/lost-${parts.random.bits()}`), await beginningOf(log)),
  );
  await pace(BEHIND_MS);
  for (let at = 0; at < RECALLS_BESIDE; at += 1) {
    const node = one(parts.random, cluster.nodes);
    const history = { itemIds: ['1', '2', '3'] };
    await callers
      .recall(node, undefined, { history, requireHistory: false })
      .catch((thrown: unknown) => {
        faults.push(`recall at ${node} beside a lost body: ${codeOf(thrown)}`);
      });
  }
  const said = await cluster.commandBeside('node-1', 'log', 'refuse', String(offset));
  if (!said.includes('refuses')) faults.push(`log refuse: ${said}`);
}
