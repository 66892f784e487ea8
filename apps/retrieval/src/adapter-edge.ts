import type {
  Activated,
  Activation,
  AdapterEvent,
  Adapters,
  AdapterVersion,
  ComparisonSummary,
  ListedVersion,
  Pushed,
  PushPart,
  PushParts,
  RollbackWanted,
  RolledBack,
} from '@tessera/adapter';
import type { Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Actor, AdapterAudits } from './adapter-audits.js';

export interface AdapterEdgeParts {
  /** Undefined where none are kept. */
  readonly adapters: Adapters | undefined;
  readonly audits: AdapterAudits;
}

/** A version by name and digest. */
export interface Named {
  readonly name: string;
  readonly digest: string;
}

/** Does and audits actions on adapters, for all edges and callers that were let in. */
export class AdapterEdge {
  constructor(private readonly parts: AdapterEdgeParts) {}

  async pushAs(actor: Actor, parts: PushParts, how: Submission = {}): Promise<Pushed> {
    const all = parts[Symbol.asyncIterator]();
    const first = await all.next();
    const part = first.done === true ? undefined : first.value;
    const header = part !== undefined && 'header' in part ? part.header : undefined;
    const { name = '', holder = '' } = header ?? {};
    return this.pushNamed(actor, name, () => rejoined(first, all), how, holder);
  }

  /** A failed fetch is audited, and announced on the topic of events, as a refusal is. */
  pushNamed(
    actor: Actor,
    name: string,
    parts: () => PushParts,
    how: Submission = {},
    holder = '',
  ): Promise<Pushed> {
    return this.parts.audits.audited(
      { action: 'push', actor, name, digest: '', detail: byHolder(holder) },
      async () => this.adapters().push(parts(), actor.name, how),
      ({ version, isKnown }) => ({
        digest: version.digest,
        detail: told(byHolder(holder), isKnown ? 'it was there before' : ''),
      }),
    );
  }

  activateAs(
    actor: Actor,
    { name, digest }: Named,
    wanted: Activation,
    how: Submission = {},
  ): Promise<Activated> {
    const { share, holder = '' } = wanted;
    const detail = told(`share ${share}`, byHolder(holder));
    return this.parts.audits.audited(
      { action: 'activate', actor, name, digest, detail },
      () => this.adapters().activate(name, digest, wanted, how),
      ({ version }) => ({ digest: version.digest }),
    );
  }

  rollBackAs(
    actor: Actor,
    name: string,
    wanted: RollbackWanted = {},
    how: Submission = {},
  ): Promise<RolledBack> {
    const { digest = '', holder = '' } = wanted;
    const by = told(actor.name, byHolder(holder));
    return this.parts.audits.audited(
      { action: 'rollback', actor, name, digest, detail: byHolder(holder) },
      () => this.adapters().rollBack(name, `rolled back by ${by}`, wanted, how),
      ({ serves, replaced }) => ({
        digest: replaced?.digest ?? '',
        detail: told(`serves ${serves?.digest ?? 'the base model'}`, byHolder(holder)),
      }),
    );
  }

  pinAs(
    actor: Actor,
    { name, digest }: Named,
    isPinned: boolean,
    how: Submission = {},
  ): Promise<AdapterVersion> {
    const action = isPinned ? 'pin' : 'unpin';
    return this.parts.audits.audited({ action, actor, name, digest, detail: '' }, () =>
      isPinned ? this.adapters().pin(name, digest, how) : this.adapters().unpin(name, digest, how),
    );
  }

  deleteAs(actor: Actor, { name, digest }: Named, how: Submission = {}): Promise<void> {
    return this.parts.audits.audited({ action: 'delete', actor, name, digest, detail: '' }, () =>
      this.adapters().delete(name, digest, how),
    );
  }

  list(name: string) {
    const adapters = this.adapters();
    const { defaultName } = adapters;
    return { versions: adapters.list(name), defaultName, ...adapters.memory() };
  }

  get({ name, digest }: Named): {
    version: ListedVersion;
    comparison: ComparisonSummary | undefined;
  } {
    const version = this.adapters().find(name, digest);
    return { version, comparison: this.adapters().comparisonOf(version) };
  }

  described(version: AdapterVersion): ListedVersion {
    return this.adapters().described(version);
  }

  /** Events that nobody asked for. */
  async note({ action, name, digest, error, detail }: AdapterEvent): Promise<void> {
    const actor = { name: action === 'rollback' ? 'canary' : 'start' };
    const outcome = error?.code ?? 'OK';
    await this.parts.audits.note({ action, actor, name, digest, detail }, outcome);
  }

  private adapters(): Adapters {
    const { adapters } = this.parts;
    if (adapters !== undefined) return adapters;
    const message = 'adapters.path: expected a folder, got none: no adapters are kept here';
    throw new TesseraError('ADAPTER_STATE', message);
  }
}

const told = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(', ');

/** '' for a person. */
const byHolder = (holder: string) => (holder === '' ? '' : `holder ${holder}`);

async function* rejoined(
  first: IteratorResult<PushPart>,
  rest: AsyncIterator<PushPart>,
): AsyncGenerator<PushPart> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
