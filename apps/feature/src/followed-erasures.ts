import type { BehaviourLog } from '@tessera/behaviour';
import type { Config } from '@tessera/config';
import { markOf, type Position, positionOf } from '@tessera/contracts';
import type { Readiness } from '@tessera/lifecycle';
import {
  BEHIND_MAX,
  ERASE,
  type Erasure,
  erasedBefore,
  Follower,
  LEASE_MS,
  ReplicatedState,
  type StatePart,
  Submissions,
  startOf,
  untilBegun,
} from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import type { OpenedLog } from './cluster-log.js';
import type { Erased } from './user-erasure.js';

/** Where behaviours are kept, and how far that is in the log. */
export type MarkedBehaviours = Pick<BehaviourLog, 'erase'> & {
  readonly mark: string;
  noteMark(mark: string): Promise<void>;
};

/** Milliseconds between two notes of a position behind which nothing was erased. */
const NOTE_MS = 1000;

/**
 * Behaviours in a store of this process's own follow the cluster log: who was erased while the
 * process was away, or since its disk was copied, is erased before it serves.
 */
export class FollowedErasures {
  private constructor(
    private readonly follower: Follower,
    private readonly submissions: Submissions,
    private readonly endNotes: () => Promise<void>,
  ) {}

  /** Waits for the log to be begun and catches up. Rejects with LOG_TRIMMED, LOG_DIFFERENT. */
  static async open(
    { node }: Config,
    { log, store }: OpenedLog,
    behaviours: MarkedBehaviours,
    nodeLog: Log,
  ): Promise<FollowedErasures> {
    const identity = await untilBegun(log, nodeLog);
    const own = positionOf(behaviours.mark);
    let newest = behaviours.mark;
    const keeper = {
      mark: () => newest,
      note: async (mark: string) => {
        newest = mark;
      },
    };
    const keep = async () => {
      if (newest !== behaviours.mark) await behaviours.noteMark(newest);
    };
    const timer = setInterval(() => void keep().catch(() => undefined), NOTE_MS);
    timer.unref();
    const follower = new Follower({
      log,
      store,
      node: node.name,
      state: new ReplicatedState(keeper, [erasures(behaviours)], 'some'),
      position: await sinceSnapshot(
        { log, store },
        own?.log === identity ? own : startOf(identity),
        behaviours,
        nodeLog,
      ),
      leaseMs: LEASE_MS,
      ...BEHIND_MAX,
      nodeLog,
    });
    await follower.catchUp();
    const submissions = new Submissions({
      log,
      store,
      node: node.name,
      follower,
      leaseMs: LEASE_MS,
    });
    return new FollowedErasures(follower, submissions, async () => {
      clearInterval(timer);
      await keep();
    });
  }

  async serve({ conditions }: Readiness): Promise<void> {
    const read = () => this.follower.condition();
    conditions.add({ name: 'log', kind: 'dependency', isNeeded: true, read });
    await this.follower.serve();
  }

  /** Acknowledged when every process that serves has nothing of the user any more. */
  async erase(userId: string): Promise<Erased> {
    const body: Erasure = { userId, withBehaviours: true, withRecords: true };
    const { value } = await this.submissions.submit({ kind: ERASE, body });
    return (value ?? { known: false, recalls: 0 }) as Erased;
  }

  async close(): Promise<void> {
    await this.follower.close();
    await this.endNotes();
  }
}

/**
 * Where entries that come next are gone, the newest snapshot says who was erased by them. As it is
 * where the log names none: it cannot be followed from there.
 */
async function sinceSnapshot(
  { log, store }: OpenedLog,
  position: Position,
  behaviours: MarkedBehaviours,
  nodeLog: Log,
): Promise<Position> {
  const { first } = await log.bounds();
  const snapshot =
    first > position.offset + 1 ? await erasedBefore(log, store, nodeLog) : undefined;
  if (snapshot === undefined) return position;
  for (const { userId, withBehaviours, offset, atMs } of snapshot.erased) {
    const mark = markOf({ ...startOf(position.log), offset });
    if (withBehaviours && offset > position.offset) await behaviours.erase(userId, atMs, mark);
  }
  return { ...startOf(position.log), offset: snapshot.offset };
}

function erasures(behaviours: MarkedBehaviours): StatePart {
  return {
    name: 'behaviours',
    kinds: [ERASE],
    apply: async ({ body }, { atMs }, mark) => {
      const { userId, withBehaviours } = body as Erasure;
      const known = withBehaviours && (await behaviours.erase(userId, atMs, mark));
      const value: Erased = { known, recalls: 0 };
      return { value, isMarked: false };
    },
    digest: async () => '',
  };
}
