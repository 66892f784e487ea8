import { LOOP_LAG } from '@tessera/call';
import { type LogWord, parseRelevanceProfile } from '@tessera/routing';
import { PROCESS_CLOCK } from '@tessera/turns';
import type { Cluster, Sighting } from './cluster.js';
import { NodeAway } from './node-failure.js';
import type { NodeLink } from './node-link.js';

const LOOK_EVERY_MS = 500;
/** Maximum time of a health answer: a busy node takes its time. */
const ANSWER_MS_MAX = 1000;
/** Milliseconds by which the gateway's own thread may be late and still tell who is silent. */
const LATE_MS = 250;
/** Answers in a row that are missing before a node that accepts connections is away. */
const MISSES_MAX = 2;
/** For which a gateway that begins waits for nodes that are slow to answer, while none is up. */
const UNSURE_MS = { most: 10_000, pause: 100 } as const;

const OK = 200;

interface HealthBody {
  readonly state?: string;
  readonly reason?: string;
  readonly versions?: Readonly<Record<string, string>>;
  /** Left out by releases before 0.1. */
  readonly instance?: string;
  readonly chains?: number;
  readonly kvStore?: string;
  readonly relevance?: unknown;
  readonly clusterLog?: LogWord;
}

/** Asks every node how it is, twice a second, and itself only while the process lives. */
export class NodeHealth {
  private readonly misses = new WeakMap<NodeLink, number>();
  private readonly asking = new Set<NodeLink>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly lag: Pick<typeof LOOP_LAG, 'ms'> = LOOP_LAG,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.round(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /**
   * Until a node is up, or all have said that they are not: callers who come to a gateway that has
   * heard nothing yet would be refused, beside other gateways that answer.
   */
  async untilSure(mostMs: number = UNSURE_MS.most): Promise<void> {
    const endMs = performance.now() + mostMs;
    const isUnsure = () => {
      const links = this.cluster.links();
      const isSilent = ({ state, silentFrom }: NodeLink) => state === 'unknown' || silentFrom;
      return links.every(({ state }) => state !== 'up') && links.some(isSilent);
    };
    while (isUnsure() && performance.now() < endMs) {
      await PROCESS_CLOCK.pause(UNSURE_MS.pause);
      await this.round();
    }
  }

  /** Never rejects. */
  async round(): Promise<void> {
    await Promise.all(this.cluster.watched().map((link) => this.look(link)));
    this.cluster.noteProgress();
  }

  private async look(link: NodeLink): Promise<void> {
    if (this.asking.has(link)) return;
    this.asking.add(link);
    const begunMs = performance.now();
    try {
      const sighting = await sightingOf(link);
      this.misses.delete(link);
      this.cluster.saw(link, sighting);
    } catch (thrown) {
      const reason = (thrown as Error).message;
      const isGone = thrown instanceof NodeAway && /ECONN|ENOTFOUND|EHOST/.test(reason);
      // Answers that came in time lie unread behind a late thread: that tells nothing of the node.
      const lateMs = Math.max(performance.now() - begunMs - ANSWER_MS_MAX, this.lag.ms);
      if (!isGone && lateMs > LATE_MS) return;
      const misses = (this.misses.get(link) ?? 0) + 1;
      this.misses.set(link, misses);
      if (!isGone && misses < MISSES_MAX) return;
      this.cluster.saw(link, { state: 'down', reason, isSilent: !isGone });
    } finally {
      this.asking.delete(link);
    }
  }
}

async function sightingOf(link: NodeLink): Promise<Sighting> {
  const deadlineMs = Date.now() + ANSWER_MS_MAX;
  const ask = { method: 'GET', path: '/health', headers: {}, deadlineMs };
  const known = link.instance;
  const [{ status, body }, isKnown] = await Promise.all([
    link.http(ask),
    link.ping(known, deadlineMs),
  ]);
  const { versions, chains = 0, kvStore = '', ...told } = JSON.parse(body.toString()) as HealthBody;
  link.instance = told.instance ?? '';
  // A process that was not known yet is asked for once more, by its name.
  const isSame = link.instance === known ? isKnown : await link.ping(link.instance, deadlineMs);
  if (versions === undefined) return { state: 'down', reason: 'expected a health answer' };
  const relevance = parseRelevanceProfile(told.relevance);
  // One that waits for something else still answers what does not need it; `ready`: before 0.1.
  const isUp = status === OK || told.state === 'blocked' || told.state === 'ready';
  const blocked = status === OK ? '' : (told.reason ?? 'it is not ready');
  const { clusterLog: log } = told;
  const own = { versions, isOtherOverGrpc: !isSame, chains, kvStore, relevance, log, blocked };
  return { state: isUp ? 'up' : 'draining', ...own };
}
