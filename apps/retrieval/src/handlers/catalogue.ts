import type { Change, ChangeAudits } from '@tessera/access';
import { type Call, plain, type Read, service, submissionOf } from '@tessera/call';
import type { AppliedImport, CatalogueChanges } from '@tessera/catalogue';
import type {
  WireApplyBatchRequest,
  WireApplyBatchResponse,
  WireApplyRequest,
  WireApplyResponse,
  WireApplyStreamRequest,
  WireApplyStreamResponse,
  WireChange,
  WireCompactRequest,
  WireCompactResponse,
  WireGetStateRequest,
  WireGetStateResponse,
  WireItem,
  WireListItemsRequest,
  WireListItemsResponse,
  WireListVersionsRequest,
  WireListVersionsResponse,
  WireQuantiseRequest,
  WireRollBackRequest,
  WireRollBackResponse,
} from '@tessera/contracts';
import type { ListedItem } from '@tessera/engine';
import { expecting, finiteJson } from '@tessera/errors';
import type { RecallOperations } from '@tessera/recall';
import { answerOf, applyWire, parseWireChanges, quantised } from '../wire/catalogue.mapper.js';
import { CollectedBatch } from './collected-batch.js';

const SERVICE = 'tessera.catalogue.v1.CatalogueService';

export interface CatalogueParts {
  readonly operations: Pick<RecallOperations, 'changesOf'>;
  readonly changes: Pick<ChangeAudits, 'noted' | 'audited'>;
}

/** Source that a change is recorded with, by the edge that it came by. */
const SOURCES: Readonly<Record<Call['edge'], string>> = {
  grpc: 'gRPC',
  http: 'HTTP',
  kafka: 'Kafka',
};

const sequenceTold = (sequence: number) => `sequence ${sequence}`;

const changeOf = (action: string, { caller, edge }: Call, name: string): Change => ({
  action,
  actor: caller.name,
  edge,
  name,
});

/** Written out: objects made by spread and rest live until a major collection of V8. */
const wireItem = (item: ListedItem): WireItem => ({
  itemId: item.itemId,
  sid: [...item.sid],
  title: item.title,
  attributes: item.attributes,
  priority: item.priority,
  paused: item.isPaused,
});

async function* listed(changes: CatalogueChanges): AsyncGenerator<WireListItemsResponse> {
  const { sequence, pages } = await changes.listItems();
  for (const page of pages) yield { sequence, items: page.map(wireItem) };
}

/** Changes of catalogues, over every edge. */
class CatalogueCalls {
  constructor(private readonly parts: CatalogueParts) {}

  of({ catalogue }: { readonly catalogue: string }): CatalogueChanges {
    return this.parts.operations.changesOf(catalogue);
  }

  async apply(
    message: WireApplyRequest,
    call: Call,
    how = submissionOf(call),
  ): Promise<WireApplyResponse> {
    const applied = await this.applied(call, message.catalogue, () => {
      const changes = parseWireChanges(message.changes);
      return applyWire(this.of(message), changes, message, SOURCES[call.edge], how);
    });
    return answerOf(applied);
  }

  /** A key is of one change: the batches of a stream have none. */
  async *applyStream(
    batches: AsyncIterable<WireApplyStreamRequest>,
    call: Call,
  ): AsyncGenerator<WireApplyStreamResponse> {
    const { waitFor, signal } = submissionOf(call);
    const how = { waitFor, signal };
    for await (const batch of batches) {
      yield this.apply({ ...batch, bundle: undefined, importMark: undefined }, call, how);
    }
  }

  async applyBatch(
    messages: AsyncIterable<WireApplyBatchRequest>,
    call: Call,
  ): Promise<WireApplyBatchResponse> {
    const batch = new CollectedBatch();
    for await (const message of messages) batch.add(message);
    const of = (name: string) => this.of({ catalogue: name });
    const how = submissionOf(call);
    return answerOf(
      await this.applied(call, batch.catalogue, () => batch.apply(of, SOURCES[call.edge], how)),
    );
  }

  async compact(message: WireCompactRequest, call: Call): Promise<WireCompactResponse> {
    const change = changeOf('compact-catalogue', call, message.catalogue);
    const act = () => this.of(message).compact();
    return { sequence: await this.parts.changes.audited(change, act, sequenceTold) };
  }

  async rollBack(message: WireRollBackRequest, call: Call): Promise<WireRollBackResponse> {
    const { catalogue, sequence: to } = message;
    const detail = `to sequence ${to}`;
    const change = { ...changeOf('roll-back-catalogue', call, catalogue), detail };
    const how = submissionOf(call);
    const act = () => this.of(message).rollBack(to, SOURCES[call.edge], how);
    return { sequence: await this.parts.changes.audited(change, act, sequenceTold) };
  }

  /** Audited behind the answer: changes come in streams. One that does not parse is audited too. */
  private applied(call: Call, name: string, act: () => Promise<AppliedImport>) {
    const change = changeOf('apply-changes', call, name);
    return this.parts.changes.noted(
      change,
      async () => act(),
      ({ sequence }) => sequenceTold(sequence),
    );
  }
}

/** Catalogues: changes, versions, items. */
export function catalogueHandlers(parts: CatalogueParts) {
  const calls = new CatalogueCalls(parts);
  return service(SERVICE, {
    Apply: (read: Read<WireApplyRequest>, call: Call) => calls.apply(read(), call),
    ApplyStream: (batches: AsyncIterable<WireApplyStreamRequest>, call: Call) =>
      calls.applyStream(batches, call),
    ApplyBatch: (messages: AsyncIterable<WireApplyBatchRequest>, call: Call) =>
      calls.applyBatch(messages, call),
    Quantise: plain((message: WireQuantiseRequest) => quantised(calls.of(message), message)),
    GetState: plain((message: WireGetStateRequest): WireGetStateResponse => {
      const catalogue = calls.of(message);
      const { baseDigest, ...state } = catalogue.state();
      const { bundleUuid, levelSizes } = catalogue;
      return { ...state, base: baseDigest, bundleUuid, levelSizes: [...levelSizes] };
    }),
    ListItems: plain((message: WireListItemsRequest) => listed(calls.of(message))),
    ListVersions: plain(
      async (message: WireListVersionsRequest): Promise<WireListVersionsResponse> => {
        const generations = await calls.of(message).generations();
        return {
          generations: generations.map(({ baseDigest, ...rest }) => ({
            ...rest,
            base: baseDigest,
          })),
        };
      },
    ),
    Compact: (read: Read<WireCompactRequest>, call: Call) => calls.compact(read(), call),
    RollBack: (read: Read<WireRollBackRequest>, call: Call) => calls.rollBack(read(), call),
  });
}

const invalid = expecting('CATALOGUE_INVALID');

/** Attributes are objects in the body, and texts of objects in the message. */
type JsonChange = WireChange & {
  readonly upsert?: { readonly attributes?: object };
  readonly setAttributes?: { readonly attributes?: object };
  readonly patchAttributes?: { readonly set?: object };
};

function objectText(value: object | undefined, field: string): string {
  if (value === undefined) return '';
  const text = finiteJson(value);
  if (typeof text === 'string') return text;
  throw invalid(field, 'finite numbers', text);
}

function withTexts(change: JsonChange, index: number): WireChange {
  const { upsert, setAttributes, patchAttributes } = change;
  const at = `changes[${index}]`;
  for (const item of [upsert, setAttributes]) {
    if (item) Object.assign(item, { attributes: objectText(item.attributes, `${at}.attributes`) });
  }
  if (patchAttributes) {
    Object.assign(patchAttributes, { set: objectText(patchAttributes.set, `${at}.set`) });
  }
  return change;
}

/** Handlers whose JSON has objects where the message has texts of objects. */
export function jsonCatalogueHandlers(parts: CatalogueParts) {
  const calls = new CatalogueCalls(parts);
  return service(SERVICE, {
    Apply: (read: Read<WireApplyRequest>, call: Call) => {
      const asked = read();
      const changes = (asked.changes as JsonChange[]).map(withTexts);
      return calls.apply({ ...asked, changes }, call);
    },
  });
}
