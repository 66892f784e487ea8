import type { AuditEntry, AuditLog } from '@tessera/access';
import { adapterEventsPackage, protoSchema, type WireAdapterEvent } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { MessageCodec, RECORD_HEADERS, type RecordProducer } from '@tessera/kafka';
import type { Log, Metrics } from '@tessera/telemetry';

const PAYLOAD_VERSION = '1';
/** Maximum length of a reason that came from outside. */
const DETAIL_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 128;

/** The actor. */
export interface Actor {
  readonly name: string;
  /** In the console; left out: it is done elsewhere. */
  readonly role?: string;
}

/** An action on a version, with its actor. */
export interface Action {
  readonly action:
    | 'push'
    | 'activate'
    | 'rollback'
    | 'pin'
    | 'unpin'
    | 'delete'
    | 'lost'
    | 'waits'
    | 'update-weights';
  readonly actor: Actor;
  readonly name: string;
  readonly digest: string;
  readonly detail: string;
}

export interface AdapterAuditsParts {
  readonly audits: Pick<AuditLog, 'write'>;
  readonly metrics: Pick<Metrics, 'countAdapterAction'>;
  readonly log: Log;
  /** Absent where no events are written. */
  readonly events?:
    | { readonly producer: Pick<RecordProducer, 'send'>; readonly topic: string }
    | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Every action on adapters: in the audit log, in the service's log, counted, and as an event. */
export class AdapterAudits {
  private readonly codec = new MessageCodec<WireAdapterEvent>(
    protoSchema,
    `${adapterEventsPackage}.AdapterEvent`,
  );

  constructor(private readonly parts: AdapterAuditsParts) {}

  /**
   * Does it between two lines of the audit log: what cannot be audited is not done. `detailsOf`
   * says how it ended.
   */
  async audited<Result>(
    action: Action,
    act: () => Promise<Result>,
    detailsOf: (result: Result) => Partial<Action> = () => ({}),
  ): Promise<Result> {
    await this.parts.audits.write(this.entry(action, 'begun'));
    let result: Result;
    try {
      result = await act();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      await this.end({ ...action, detail: error.message }, error.code);
      throw error;
    }
    await this.end({ ...action, ...detailsOf(result) }, 'OK');
    return result;
  }

  /** Something that was not asked for. */
  async note(action: Action, outcome: string): Promise<void> {
    await this.end(action, outcome);
  }

  private async end(action: Action, outcome: string): Promise<void> {
    const { metrics, log } = this.parts;
    const entry = this.entry(action, outcome);
    metrics.countAdapterAction(action.action, outcome);
    const { timeMs: _, ...fields } = entry;
    if (outcome === 'OK') log.info(fields, 'adapter change served');
    else log.warn(fields, 'adapter change refused');
    this.send(entry);
    // The action has happened: where its end cannot be written, that is logged, and no more.
    await this.parts.audits.write(entry).catch((error: unknown) => {
      log.error({ err: error, ...fields }, 'the end of an action could not be audited');
    });
  }

  private entry({ action, actor, name, digest, detail }: Action, outcome: string): AuditEntry {
    return {
      timeMs: this.parts.nowMs(),
      action,
      actor: actor.name,
      outcome,
      ...(actor.role !== undefined && { role: actor.role }),
      name: name.slice(0, NAME_LENGTH_MAX),
      digest: digest.slice(0, NAME_LENGTH_MAX),
      detail: detail.slice(0, DETAIL_LENGTH_MAX),
    };
  }

  /**
   * Sends the event after the action: a broker that is away costs the event, not the audit entry.
   */
  private send(entry: AuditEntry): void {
    const { events, log } = this.parts;
    if (events === undefined) return;
    const value = this.codec.encode({ ...entry });
    const headers = { [RECORD_HEADERS.version]: PAYLOAD_VERSION };
    events.producer
      .send(events.topic, [{ key: entry.name, value, headers }])
      .catch((error: unknown) => log.warn({ err: error }, 'an event of adapters was not written'));
  }
}
