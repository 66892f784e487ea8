import { TesseraClient } from '@tessera/client';
import { until } from '@tessera/testing';
import type { Random } from '../../bench/models/random.js';
import { encodeBehaviour, encodeRequest, type TopicClient } from '../e2e/topic-client.js';
import { pace } from '../soak/pace.js';
import type { BehaviourModel, SentBehaviour } from './behaviour-model.js';
import type { World } from './world.js';

const USERS = 24;
const ITEMS = 700;
const ACTIONS = ['buy', 'view', 'hover', 'click', ''];
const DAY_MS = 86_400_000;
const PACE_MS = 25;
const EVENTS_AT_ONCE_MAX = 12;
const REQUESTS_AT_ONCE_MAX = 4;
const CALL_MS = 5000;
const FLOOD_CALL_MS = 60_000;
const FLOOD_AT_ONCE = 5000;
/** Long enough for everything that may befall the service. */
const PATIENCE_MS = 600_000;

export type Expected =
  /** The answer of a recall of this history. */
  | { readonly kind: 'history'; readonly itemIds: readonly string[] }
  /** Somebody whose behaviours never change. */
  | { readonly kind: 'settled'; readonly userId: string }
  /** Somebody whose behaviours come meanwhile: any recall. */
  | { readonly kind: 'moving'; readonly userId: string }
  | { readonly kind: 'refused'; readonly code: string };

export interface Asked {
  readonly id: string;
  readonly expected: Expected;
  readonly timeMs: number;
}

export interface Erasure {
  readonly userId: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Producers and callers; all that they sent, and what must come of it. */
export class Traffic {
  readonly asked: Asked[] = [];
  readonly erasures: Erasure[] = [];
  /** Keys of records that can never be stored. */
  readonly poison: string[] = [];
  private readonly sent: SentBehaviour[] = [];
  private events = 0;
  /** Time of the last behaviour, had it not come late. */
  private drawnMs = 0;
  private ended = false;
  private draws = true;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly world: World,
    private readonly topics: TopicClient,
    private readonly model: BehaviourModel,
    /** Streams of its own for each producer and caller, so that their pace changes nothing. */
    private readonly draw: { readonly [of in 'topic' | 'calls' | 'requests' | 'users']: Random },
  ) {}

  begin(): void {
    const paced = async (act: () => Promise<void>) => {
      while (!this.ended) {
        if (this.draws) await act();
        await pace(PACE_MS);
      }
    };
    this.running = Promise.all([
      paced(() => this.produce(this.draw.topic)),
      paced(() => this.append(this.draw.calls)),
      paced(() => this.ask(this.draw.requests)),
    ]);
    this.running.catch(() => undefined);
  }

  /** Resolves when all that was begun has been taken. */
  async end(): Promise<void> {
    this.ended = true;
    await this.running;
  }

  /**
   * Forgets a user and all that was said of the user until now, however late it comes; what is
   * drawn later counts again. Nothing is drawn meanwhile, so that it is known on which side it
   * lies.
   */
  async erase(): Promise<void> {
    this.draws = false;
    const userId = `u${this.draw.users.below(USERS)}`;
    await until('no behaviour is ahead of the clock', () => Date.now() > this.drawnMs);
    const startMs = Date.now();
    await this.called((client) => client.erase(userId, CALL_MS));
    const erasedMs = Date.now();
    this.erasures.push({ userId, startMs, endMs: erasedMs });
    this.model.erase(userId, erasedMs);
    await until('a later time than that of the erasure', () => Date.now() > erasedMs + 1);
    this.draws = true;
  }

  /** So many behaviours of one user. */
  async flood(count: number): Promise<void> {
    const random = this.draw.users;
    const nowMs = Date.now();
    for (let sent = 0; sent < count; sent += FLOOD_AT_ONCE) {
      const behaviours = Array.from({ length: Math.min(FLOOD_AT_ONCE, count - sent) }, (_, i) => ({
        userId: 'busy',
        eventId: `f${sent + i}`,
        itemId: String(1 + random.below(ITEMS)),
        action: 'click',
        timeMs: nowMs - random.below(DAY_MS),
        scene: {},
      }));
      for (const behaviour of behaviours) this.model.add(behaviour);
      await this.called((client) => client.append(behaviours, FLOOD_CALL_MS));
    }
  }

  private newBehaviour(random: Random): SentBehaviour {
    this.events += 1;
    // Half days: far from the age that the retention ends at.
    const late = random.below(4) === 0 ? (random.below(60) + 0.5) * DAY_MS : 0;
    // Behaviours of equal time are in the order of their arrival, which nobody knows here.
    this.drawnMs = Math.max(Date.now(), this.drawnMs + 1);
    const timeMs = this.drawnMs - late;
    const isGone = random.below(20) === 0;
    const behaviour = {
      userId: `u${random.below(USERS)}`,
      eventId: `e${String(random.below(1000)).padStart(3, '0')}-${this.events}`,
      itemId: isGone ? `gone ${random.below(9)}` : String(1 + random.below(ITEMS)),
      action: random.one(ACTIONS),
      timeMs,
    };
    this.sent.push(behaviour);
    this.model.add(behaviour);
    return behaviour;
  }

  /** New ones and some that were sent before, in any order. */
  private behaviours(random: Random): SentBehaviour[] {
    const count = 1 + random.below(EVENTS_AT_ONCE_MAX);
    const drawn = Array.from({ length: count }, () =>
      this.sent.length > 0 && random.below(4) === 0
        ? random.one(this.sent)
        : this.newBehaviour(random),
    );
    return drawn.sort(() => random.below(3) - 1);
  }

  private async produce(random: Random): Promise<void> {
    const messages = this.behaviours(random).map((behaviour) => ({
      key: behaviour.userId,
      value: encodeBehaviour({ ...behaviour }),
    }));
    if (random.below(10) === 0) {
      const key = `poison ${this.poison.length}`;
      this.poison.push(key);
      messages.push({ key, value: Buffer.from([255, random.below(256)]) });
    }
    await this.topics.sendAll('behaviours', messages);
  }

  private async append(random: Random): Promise<void> {
    const behaviours = this.behaviours(random).map((behaviour) => ({ ...behaviour, scene: {} }));
    await this.called((client) => client.append(behaviours, CALL_MS));
  }

  /** Until it is acknowledged: what was drawn shall be there in the end. */
  private async called(call: (client: TesseraClient) => Promise<unknown>): Promise<void> {
    await until(
      'a call that is acknowledged',
      async () => {
        const { service } = this.world;
        if (service === undefined) return false;
        const client = new TesseraClient(service.grpcAddress);
        try {
          await call(client);
          return true;
        } catch {
          // The service, or what it stores in, is away.
          return false;
        } finally {
          client.close();
        }
      },
      PATIENCE_MS,
    );
  }

  private async ask(random: Random): Promise<void> {
    const count = 1 + random.below(REQUESTS_AT_ONCE_MAX);
    const questions = Array.from({ length: count }, () => this.question(random));
    const messages = questions.map(({ message }) => message);
    await this.topics.sendAll('recall.requests', messages);
  }

  /** Asks one thing more; gives its correlation ID. */
  async probe(): Promise<string> {
    const { message, id } = this.question(this.draw.users);
    await this.topics.send('recall.requests', message);
    return id;
  }

  private question(random: Random) {
    const id = `q${this.asked.length}`;
    const [expected, request, deadlineMs] = this.draft(random);
    this.asked.push({ id, expected, timeMs: Date.now() });
    const message = {
      key: String(request.userId ?? ''),
      value: encodeRequest({
        request: { resultCount: 5, ...request },
        deadlineTimeMs: Date.now() + deadlineMs,
      }),
      headers: { 'tessera-correlation-id': id },
    };
    return { id, message };
  }

  private draft(random: Random): [Expected, Record<string, unknown>, number] {
    const kind = random.below(10);
    if (kind < 4) {
      const itemIds = Array.from({ length: 1 + random.below(12) }, () =>
        String(1 + random.below(ITEMS)),
      );
      return [{ kind: 'history', itemIds }, { history: { itemIds } }, PATIENCE_MS];
    }
    if (kind < 6) {
      const userId = String(1 + random.below(9));
      return [{ kind: 'settled', userId }, { userId }, PATIENCE_MS];
    }
    if (kind < 8) {
      const userId = `u${random.below(USERS)}`;
      return [{ kind: 'moving', userId }, { userId }, PATIENCE_MS];
    }
    if (kind < 9) return [{ kind: 'refused', code: 'DEADLINE_EXCEEDED' }, { userId: '1' }, -1000];
    const request = { userId: 'nobody', requireHistory: true };
    return [{ kind: 'refused', code: 'USER_NOT_FOUND' }, request, PATIENCE_MS];
  }
}
