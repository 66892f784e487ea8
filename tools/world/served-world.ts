import { randomUUID } from 'node:crypto';
import { DEFAULT_ADAPTER } from '@tessera/adapter';
import { type Connection, errorOf, TesseraClient } from '@tessera/client';
import type { WireBehaviour } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { AdapterClient } from '../served/adapter-client.js';
import { CatalogueClient } from '../served/catalogue-client.js';
import { grpcOptions } from '../served/connection.js';
import type {
  RankedAd,
  RankingService,
  WorldAnswer,
  WorldBehaviour,
  WorldChange,
  WorldItem,
  WorldRanking,
  WorldRecall,
  WorldService,
} from './world-service.js';

const RECALL_MS = 5000;
const CALL_MS = 30_000;
/** Head of the demo that tells clicks, and its valuation by expected value. */
const HEAD = 'click';
const EXPECTED = 'expected';
/** Codes of a service without heads, or without that valuation. */
const UNRANKED: readonly string[] = ['ADAPTER_NOT_FOUND', 'REQUEST_INVALID'];

interface Listed {
  readonly items: readonly {
    readonly itemId: string;
    readonly sid: readonly number[];
    readonly title: string;
    readonly attributes: string;
    readonly paused: boolean;
  }[];
}

interface Versions {
  readonly versions: readonly { readonly state: string; readonly learnedUntilMs: number }[];
}

/** Drawn places are for fresh ads. */
const DRAWN = {
  predicate: undefined,
  allowed: undefined,
  denied: [],
  seen: [],
  drawn: { in: { attribute: 'fresh', values: ['true'] } },
};

/** A service over gRPC, as its callers have it. */
export class ServedWorld implements WorldService, RankingService {
  private readonly client: TesseraClient;
  private readonly catalogue: CatalogueClient;
  private readonly adapters: AdapterClient;
  /** Names of events: the same world may use the same service again. */
  private readonly run = randomUUID().slice(0, 8);
  /** False once it has refused to rank. */
  private hasHeads = true;

  /** @param clock of the users, milliseconds since 1970 */
  constructor(
    address: string,
    connection: Connection,
    private readonly clock: () => number = Date.now,
  ) {
    const { credentials } = grpcOptions(connection);
    this.client = new TesseraClient(address, { connection });
    this.catalogue = new CatalogueClient(address, '', connection);
    this.adapters = new AdapterClient(address, connection.token, credentials);
  }

  async items(): Promise<readonly WorldItem[]> {
    const items: WorldItem[] = [];
    try {
      for await (const part of this.catalogue.stream<Listed>('ListItems', {}, CALL_MS)) {
        for (const { itemId, sid, title, attributes, paused } of part.items) {
          const parsed = attributes === '' ? {} : JSON.parse(attributes);
          items.push({ itemId, sid, title, attributes: parsed, paused });
        }
      }
    } catch (thrown) {
      throw errorOf(thrown as object);
    }
    return items;
  }

  async recall(question: WorldRecall): Promise<WorldAnswer> {
    const { visit, userId, daypart, resultCount, explores, drawsAll, ranks } = question;
    const explored = { explore: { slots: 1 }, eligibility: DRAWN };
    const isRanked = ranks === true && this.hasHeads;
    const request = {
      requestId: this.named(visit),
      userId,
      scene: { daypart },
      resultCount,
      ...(explores && explored),
      // A target draws all places: with fixed ones few users carry its weight.
      ...(drawsAll === true && { explore: { slots: resultCount } }),
    };
    const { items, versions } = isRanked
      ? await this.rankedOrPlain(request)
      : await this.client.recall(request, RECALL_MS);
    return { itemIds: items.map(({ itemId }) => itemId), version: versions?.adapter ?? '' };
  }

  /** A service without heads is asked to rank once. */
  private async rankedOrPlain(request: object) {
    try {
      return await this.client.recall({ ...request, rank: {} }, RECALL_MS);
    } catch (thrown) {
      if (TesseraError.from(thrown).retryable) throw thrown;
      this.hasHeads = false;
      return this.client.recall(request, RECALL_MS);
    }
  }

  async ranked({ userId, daypart, count }: WorldRanking): Promise<readonly RankedAd[] | undefined> {
    const request = {
      userId,
      scene: { daypart },
      resultCount: count,
      rank: { items: count, valuation: { name: EXPECTED } },
    };
    const answer = await this.client.recall(request, RECALL_MS).catch((thrown) => {
      if (UNRANKED.includes(TesseraError.from(thrown).code)) return undefined;
      throw thrown;
    });
    return answer?.items.map(({ itemId, ranking }) => ({
      itemId,
      click: ranking?.heads[HEAD] ?? 0,
      recallRank: ranking?.recallRank ?? 0,
    }));
  }

  async append(behaviours: readonly WorldBehaviour[]): Promise<void> {
    await this.client.append(this.wireOf(behaviours), CALL_MS);
  }

  async apply(changes: readonly WorldChange[]): Promise<void> {
    const message = { changes: await Promise.all(changes.map((each) => this.wireChange(each))) };
    await this.catalogue.call('Apply', message, CALL_MS).catch((thrown) => {
      throw errorOf(thrown);
    });
  }

  /** Resolves where the service answers. */
  async answers(): Promise<void> {
    await this.catalogue.call('GetState', {}, CALL_MS).catch((thrown) => {
      throw errorOf(thrown);
    });
  }

  async learnedUntilMs(): Promise<number | undefined> {
    const asked = { name: DEFAULT_ADAPTER };
    const { versions } = await this.adapters
      .call<Versions>('List', asked, CALL_MS)
      .catch((thrown) => {
        throw errorOf(thrown);
      });
    const active = versions.find(({ state }) => state === 'STATE_ACTIVE');
    return active === undefined || active.learnedUntilMs === 0 ? undefined : active.learnedUntilMs;
  }

  /** A new ad comes by its title where the catalogue's codebooks know a word of it. */
  private async wireChange(change: WorldChange): Promise<object> {
    const { op, itemId } = change;
    if (op === 'set') {
      return { patchAttributes: { itemId, set: JSON.stringify(change.attributes) } };
    }
    if (op !== 'upsert') return { [`${op}ItemId`]: itemId };
    const { sid, title, attributes } = change;
    const question = { text: title, neighbours: 0 };
    const place = await this.catalogue.call('Quantise', question, CALL_MS).then(
      () => ({ text: title }),
      (thrown) => {
        const error = errorOf(thrown);
        if (error.retryable) throw error;
        return { sid };
      },
    );
    return {
      upsert: Object.assign({ itemId, title, attributes: JSON.stringify(attributes) }, place),
    };
  }

  close(): void {
    this.client.close();
    this.catalogue.close();
    this.adapters.close();
  }

  /** As they are sent now. */
  wireOf(behaviours: readonly WorldBehaviour[]): WireBehaviour[] {
    const now = this.clock();
    return behaviours.map((behaviour) => this.wire(behaviour, now));
  }

  private wire(behaviour: WorldBehaviour, timeMs: number): WireBehaviour {
    const { visit, userId, itemId, action, daypart, position, number = 0 } = behaviour;
    return {
      userId,
      eventId: `${this.run}-${visit ?? number}-${action}-${itemId}`,
      itemId,
      action,
      timeMs,
      scene: { daypart },
      requestId: visit === undefined ? undefined : this.named(visit),
      position,
    };
  }

  private named(visit: string): string {
    return `${visit}-${this.run}`;
  }
}
