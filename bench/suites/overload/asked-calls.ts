import { protoSchema } from '@tessera/contracts';
import protobuf from 'protobufjs';
import type { Random } from '../../models/random.js';
import type { CallBytes } from './grpc-connection.js';
import type { CallKind, LoadPlan } from './load-plan.js';

const RECALL = '/tessera.recall.v1.RecallService/Recall';
const APPEND = '/tessera.behaviour.v1.BehaviourService/Append';
const APPLY = '/tessera.catalogue.v1.CatalogueService/Apply';

/** Number of mixed calls of which some append a behaviour, and some set a bid. */
const MIXED_CALLS = 20;
const MIXED_APPENDS = 3;
const MIXED_BIDS = 1;
const BID_MAX = 4;

/** Fields of a recall by its kind, beside user and priority. */
const FIELDS: Readonly<Record<CallKind, object>> = {
  plain: {},
  value: { valuation: { name: 'ecpm' } },
  ranked: { rank: {} },
  mixed: {},
};

export interface AskedCall extends CallBytes {
  readonly isWrite: boolean;
}

/** Draws the calls of a load. Recalls are encoded once by user and priority; writes differ. */
export class AskedCalls {
  private readonly root = protobuf.Root.fromJSON(protoSchema);
  private readonly recalls: readonly (readonly AskedCall[])[];
  private readonly appends = this.root.lookupType('tessera.behaviour.v1.AppendRequest');
  private readonly changes = this.root.lookupType('tessera.catalogue.v1.ApplyRequest');
  /** Events of different runs have different names, so that none is known already. */
  private readonly run = `${Date.now().toString(36)}-${process.pid}`;
  private drawn = 0;

  constructor(
    private readonly plan: LoadPlan,
    private readonly random: Random,
  ) {
    const type = this.root.lookupType('tessera.recall.v1.RecallRequest');
    const fields = FIELDS[plan.kind ?? 'plain'];
    this.recalls = plan.priorities.map((priority) =>
      plan.userIds.map((userId) => ({
        path: RECALL,
        message: encoded(type, Object.assign({ userId, priority }, fields)),
        isWrite: false,
      })),
    );
  }

  /** @param lane index of the priority */
  next(lane: number): AskedCall {
    this.drawn += 1;
    if (this.plan.kind === 'mixed') {
      const turn = this.random.below(MIXED_CALLS);
      if (turn < MIXED_APPENDS) return this.append();
      if (turn < MIXED_APPENDS + MIXED_BIDS) return this.bid();
    }
    const ofPriority = this.recalls[lane] as readonly AskedCall[];
    return ofPriority[this.random.below(ofPriority.length)] as AskedCall;
  }

  private append(): AskedCall {
    const behaviour = {
      userId: this.oneOf(this.plan.userIds),
      eventId: `${this.run}-${this.drawn}`,
      itemId: this.oneOf(this.plan.itemIds ?? []),
      action: 'click',
      timeMs: Date.now(),
    };
    const message = encoded(this.appends, { behaviours: [behaviour] });
    return { path: APPEND, message, isWrite: true };
  }

  private bid(): AskedCall {
    const bid = Number((this.random.uniform() * BID_MAX + 0.01).toFixed(2));
    const patch = { itemId: this.oneOf(this.plan.itemIds ?? []), set: JSON.stringify({ bid }) };
    const message = encoded(this.changes, { changes: [{ patchAttributes: patch }] });
    return { path: APPLY, message, isWrite: true };
  }

  private oneOf(ids: readonly string[]): string {
    return ids[this.random.below(ids.length)] ?? '';
  }
}

function encoded(type: protobuf.Type, fields: object): Buffer {
  return Buffer.from(type.encode(type.create(fields)).finish());
}
