import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { expecting, TesseraError } from '@tessera/errors';
import { hedged } from './hedged.js';
import { ServerClock } from './server-clock.js';

const ANSWER_MS_MAX = 2000;
/** A fraction of the lease of a node: a member that hangs costs it no beat. */
const HEDGE_AFTER_MS = 250;
const ANSWER_BYTES_MAX = 64 << 20;
const HTTP_OK = 200;

const base64 = (text: string | Uint8Array) =>
  (typeof text === 'string'
    ? Buffer.from(text)
    : Buffer.from(text.buffer, text.byteOffset, text.length)
  ).toString('base64');
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString();
const invalid = expecting('CONFIG_INVALID');

interface KeyAnswer {
  readonly key: string;
  readonly value?: string;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly lease?: string;
}

interface RangeAnswer {
  readonly kvs?: readonly KeyAnswer[];
}

export interface EtcdEntry {
  readonly key: string;
  readonly value: Buffer;
  /** Revision at which the key was made: another one of the same name has another. */
  readonly created: string;
  /** Revision at which its value was put. */
  readonly modified: string;
  /** '0': it has none. */
  readonly lease: string;
}

/** A condition of a transaction. */
export type EtcdCondition = { readonly key: string } & (
  | { readonly value: Uint8Array }
  | { readonly modified: string }
  | { readonly lease: string }
  /** '0': there is no such key. */
  | { readonly created: string }
);

/** A step of a transaction; ranges are [from, end) in the order of the keys. */
export type EtcdStep =
  | { readonly put: string; readonly value: Uint8Array; readonly lease?: string }
  | { readonly get: string; readonly end?: string; readonly limit?: number }
  | { readonly remove: string; readonly end?: string };

export interface EtcdOutcome {
  readonly holds: boolean;
  /** Entries that the steps with `get` have found, in their order. */
  readonly found: readonly (readonly EtcdEntry[])[];
}

/** First key behind all that begin so. */
export const endOf = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** How etcd is shown who asks. */
export interface EtcdSecurity {
  readonly username?: string;
  /** Asked at each handshake, as the PEM texts are. */
  readonly password?: string | undefined;
  /** Left out: authorities of the system. */
  readonly tls?: {
    readonly ca: Buffer | undefined;
    readonly cert: Buffer | undefined;
    readonly key: Buffer | undefined;
  };
}

const SECURED = 'https://';

/** `HOST:PORT` of each, and whether they speak TLS. @throws TesseraError CONFIG_INVALID */
function parseAddresses(text: string): { addresses: readonly string[]; isTls: boolean } {
  const given = text.split(',').map((address) => address.trim().replace(/\/$/, ''));
  const secured = given.filter((address) => address.startsWith(SECURED));
  if (secured.length > 0 && secured.length < given.length) {
    throw invalid('cluster.etcd', 'https:// before every address or before none', text);
  }
  const addresses = given.map((address) => address.replace(/^https?:\/\//, ''));
  for (const address of addresses) {
    if (!/^[^/\s]+:\d{1,5}$/.test(address)) throw invalid('cluster.etcd', 'HOST:PORT', address);
  }
  return { addresses, isTls: secured.length > 0 };
}

/** An answer of etcd that is a refusal. */
class EtcdRefusal extends Error {}

/** The part of etcd v3 (3.4 and later) in use, by the JSON gateway that every etcd serves. */
export class Etcd {
  private readonly addresses: readonly string[];
  private readonly isTls: boolean;
  private readonly agent: HttpAgent;
  /** The member that answered last is asked first. */
  private first = 0;
  /** '' for none. */
  private token = '';
  private readonly clock = new ServerClock();

  /**
   * HOST:PORT or URL of members of the etcd cluster, by commas.
   * @throws TesseraError CONFIG_INVALID
   */
  constructor(
    addresses: string,
    private readonly security: EtcdSecurity = {},
  ) {
    const parsed = parseAddresses(addresses);
    this.addresses = parsed.addresses;
    this.isTls = parsed.isTls;
    this.agent = new (this.isTls ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** Entries of all keys with this prefix. */
  async entriesUnder(prefix: string): Promise<readonly EtcdEntry[]> {
    const range = { key: base64(prefix), range_end: base64(endOf(prefix)) };
    const { kvs = [] } = await this.ask<RangeAnswer>('kv/range', range);
    return kvs.map(entryOf);
  }

  /** @returns the lease, which ends `ttlSeconds` after it was kept for the last time */
  async grant(ttlSeconds: number): Promise<string> {
    const { ID } = await this.ask<{ ID: string }>('lease/grant', { TTL: ttlSeconds });
    return ID;
  }

  /** False: the lease has ended. */
  async keep(lease: string): Promise<boolean> {
    const answer = await this.ask<{ result?: { TTL?: string } }>('lease/keepalive', { ID: lease });
    return Number(answer.result?.TTL ?? 0) > 0;
  }

  async revoke(lease: string): Promise<void> {
    await this.ask('lease/revoke', { ID: lease });
  }

  /** Milliseconds since 1970 by the clock of the members, to a second; 0 before one answered. */
  get nowMs(): number {
    return this.clock.nowMs;
  }

  /**
   * All steps of one side at one revision, after every transaction that was answered before. It may
   * be asked of two members: conditions have to refuse the second.
   */
  async transact(
    conditions: readonly EtcdCondition[],
    steps: { readonly where: readonly EtcdStep[]; readonly otherwise?: readonly EtcdStep[] },
  ): Promise<EtcdOutcome> {
    const { where, otherwise = [] } = steps;
    const { succeeded = false, responses = [] } = await this.ask<{
      readonly succeeded?: boolean;
      readonly responses?: readonly { readonly response_range?: RangeAnswer }[];
    }>('kv/txn', {
      compare: conditions.map(comparisonOf),
      success: where.map(requestOf),
      failure: otherwise.map(requestOf),
    });
    const found = (succeeded ? where : otherwise).flatMap((step, at) =>
      'get' in step ? [(responses[at]?.response_range?.kvs ?? []).map(entryOf)] : [],
    );
    return { holds: succeeded, found };
  }

  /**
   * Calls `onChange` when a key may have changed, until the signal is aborted. A hint, no more: a
   * change may be missed while another member is asked for the next.
   */
  async watch(key: string, onChange: () => void, signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const { addresses, first } = this;
      const address = addresses[(first + turn) % addresses.length] as string;
      await this.watchAt(address, key, onChange, signal).catch(() => undefined);
      await pause(HEDGE_AFTER_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async ask<Answer>(method: string, body: object): Promise<Answer> {
    const { addresses, first } = this;
    const order = addresses.map((_, index) => (first + index) % addresses.length);
    const asks = order.map(
      (index) => (signal: AbortSignal) =>
        this.askOne<Answer>(addresses[index] as string, method, body, signal),
    );
    try {
      const { answer, place } = await hedged(asks, HEDGE_AFTER_MS);
      this.first = order[place] as number;
      return answer;
    } catch (thrown) {
      throw this.refusalOf(thrown);
    }
  }

  /** With a token where there is a user; one that etcd knows no more is asked for anew, once. */
  private async askOne<Answer>(
    address: string,
    method: string,
    body: object,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { username: name } = this.security;
    if (name === undefined) return this.post<Answer>(address, method, body, signal);
    const authenticate = async () => {
      const given = { name, password: this.security.password ?? '' };
      const { token } = await this.post<{ token: string }>(
        address,
        'auth/authenticate',
        given,
        signal,
      );
      this.token = token;
    };
    if (this.token === '') await authenticate();
    try {
      return await this.post<Answer>(address, method, body, signal);
    } catch (thrown) {
      if (!/auth token|auth store/.test((thrown as Error).message)) throw thrown;
      await authenticate();
      return this.post<Answer>(address, method, body, signal);
    }
  }

  private async post<Answer>(
    address: string,
    method: string,
    body: object,
    signal: AbortSignal,
  ): Promise<Answer> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const reply = await this.begun(address, method, body, limited);
    this.clock.note(Date.parse(reply.headers.date ?? ''));
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of reply) {
      parts.push(part as Buffer);
      bytes += (part as Buffer).length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error('more bytes than etcd answers');
    }
    const text = Buffer.concat(parts).toString();
    if (reply.statusCode === HTTP_OK) return JSON.parse(text) as Answer;
    throw new EtcdRefusal(reasonIn(text) ?? `HTTP ${reply.statusCode}`);
  }

  private begun(
    address: string,
    method: string,
    body: object,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { isTls, agent, token } = this;
    const isAuthenticated = token !== '' && method !== 'auth/authenticate';
    const headers = isAuthenticated ? { authorization: token } : {};
    const request = isTls ? httpsRequest : httpRequest;
    const url = `${isTls ? 'https' : 'http'}://${address}/v3/${method}`;
    return new Promise((resolve, reject) => {
      const { ca, cert, key } = this.security.tls ?? {};
      const options = { method: 'POST', agent, signal, headers, ca, cert, key };
      const asked = request(url, options, resolve);
      asked.on('error', reject);
      asked.end(JSON.stringify(body));
    });
  }

  /** Ends where the stream does. */
  private async watchAt(
    address: string,
    key: string,
    onChange: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const reply = await this.begun(
      address,
      'watch',
      { create_request: { key: base64(key) } },
      signal,
    );
    for await (const _ of reply) onChange();
  }

  private refusalOf(thrown: unknown): TesseraError {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    if (/user name is empty/.test(reason)) {
      return invalid('cluster.etcdUser', 'a user, which this etcd asks for', 'none', thrown);
    }
    if (/space exceeded/.test(reason)) {
      const remedy = 'compact it, defragment it, disarm its alarm (docs/operate/cluster.md)';
      const message = `cluster.etcd: expected room in etcd, got ${reason}: ${remedy}`;
      return new TesseraError('STORE_FULL', message, { field: 'cluster.etcd', cause: thrown });
    }
    if (/authentication failed|authentication is not enabled|permission denied/.test(reason)) {
      const expected = 'a user whom etcd knows, and who may read and write /tessera/';
      return invalid('cluster.etcdUser', expected, reason, thrown);
    }
    const addresses = this.addresses.join(', ');
    const message = `cluster.etcd: expected an answer of ${addresses}, got ${reason}`;
    return new TesseraError('STORE_UNAVAILABLE', message, { field: 'cluster.etcd', cause: thrown });
  }
}

/** Reason in an answer that refuses. */
function reasonIn(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    const reason = message ?? error;
    return typeof reason === 'string' ? reason : JSON.stringify(reason);
  } catch {
    return undefined;
  }
}

const comparisonOf = (condition: EtcdCondition) => {
  const to = { key: base64(condition.key), result: 'EQUAL' };
  if ('value' in condition) {
    return Object.assign(to, { target: 'VALUE', value: base64(condition.value) });
  }
  if ('lease' in condition) {
    return Object.assign(to, { target: 'LEASE', lease: condition.lease });
  }
  return 'modified' in condition
    ? Object.assign(to, { target: 'MOD', mod_revision: condition.modified })
    : Object.assign(to, { target: 'CREATE', create_revision: condition.created });
};

function requestOf(step: EtcdStep): object {
  if ('put' in step) {
    const { put, value, lease } = step;
    return { requestPut: { key: base64(put), value: base64(value), lease } };
  }
  const end = step.end === undefined ? {} : { range_end: base64(step.end) };
  if ('get' in step) {
    const range = Object.assign(end, { key: base64(step.get), limit: String(step.limit ?? 0) });
    return { requestRange: range };
  }
  return { requestDeleteRange: Object.assign(end, { key: base64(step.remove) }) };
}

const entryOf = (answer: KeyAnswer): EtcdEntry => ({
  key: fromBase64(answer.key),
  value: Buffer.from(answer.value ?? '', 'base64'),
  created: answer.create_revision ?? '0',
  modified: answer.mod_revision ?? '0',
  lease: answer.lease ?? '0',
});
