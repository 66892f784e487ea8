import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { expecting, TesseraError } from '@tessera/errors';
import { hedged } from '../domain/hedged.js';

const ANSWER_MS_MAX = 2000;
/** A fraction of the lease of a node: a member that hangs costs it no beat. */
const HEDGE_AFTER_MS = 250;
const ANSWER_BYTES_MAX = 64 << 20;
const HTTP_OK = 200;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString();
const invalid = expecting('CONFIG_INVALID');

interface RangeAnswer {
  readonly kvs?: readonly { readonly value: string }[];
}

/** How etcd is shown who asks. */
export interface EtcdSecurity {
  readonly username?: string;
  readonly password?: string;
  /** PEM texts; left out: authorities of the system. */
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
    const { ca, cert, key } = security.tls ?? {};
    this.agent = this.isTls
      ? new HttpsAgent({ keepAlive: true, ca, cert, key })
      : new HttpAgent({ keepAlive: true });
  }

  /** Values of all keys that begin so. */
  async valuesUnder(prefix: string): Promise<readonly string[]> {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    const range = { key: base64(prefix), range_end: base64(end) };
    const { kvs = [] } = await this.ask<RangeAnswer>('kv/range', range);
    return kvs.map(({ value }) => fromBase64(value));
  }

  /** Undefined: there is no such key. */
  async valueOf(key: string): Promise<string | undefined> {
    const { kvs = [] } = await this.ask<RangeAnswer>('kv/range', { key: base64(key) });
    return kvs[0] && fromBase64(kvs[0].value);
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

  /**
   * Puts a new key. @returns the value that is there instead; undefined: it is put. Asked of two
   * members at once, the own value may be there instead.
   */
  async putNew(key: string, value: string, lease: string): Promise<string | undefined> {
    const own = base64(key);
    const answer = await this.ask<{
      succeeded?: boolean;
      responses?: readonly { response_range?: RangeAnswer }[];
    }>('kv/txn', {
      compare: [{ key: own, target: 'CREATE', result: 'EQUAL', create_revision: '0' }],
      success: [{ requestPut: { key: own, value: base64(value), lease } }],
      failure: [{ requestRange: { key: own } }],
    });
    if (answer.succeeded === true) return undefined;
    return fromBase64(answer.responses?.[0]?.response_range?.kvs?.[0]?.value ?? '');
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
    const { username: name, password } = this.security;
    if (name === undefined) return this.post<Answer>(address, method, body, signal);
    const authenticate = async () => {
      const given = { name, password: password ?? '' };
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

  private post<Answer>(
    address: string,
    method: string,
    body: object,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { isTls, agent, token } = this;
    const isAuthenticated = token !== '' && method !== 'auth/authenticate';
    const options = {
      method: 'POST',
      agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
      headers: isAuthenticated ? { authorization: token } : {},
    };
    const request = isTls ? httpsRequest : httpRequest;
    const url = `${isTls ? 'https' : 'http'}://${address}/v3/${method}`;
    return new Promise((resolve, reject) => {
      const asked = request(url, options, (reply) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        reply.on('error', reject);
        reply.on('data', (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes > ANSWER_BYTES_MAX) reply.destroy(new Error('more bytes than etcd answers'));
        });
        reply.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if (reply.statusCode === HTTP_OK) resolve(JSON.parse(text) as Answer);
          else reject(new EtcdRefusal(reasonIn(text) ?? `HTTP ${reply.statusCode}`));
        });
      });
      asked.on('error', reject);
      asked.end(JSON.stringify(body));
    });
  }

  private refusalOf(thrown: unknown): TesseraError {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    if (/user name is empty/.test(reason)) {
      return invalid('cluster.etcdUser', 'a user, which this etcd asks for', 'none', thrown);
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

/** Of an answer that refuses. */
function reasonIn(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    const reason = message ?? error;
    return typeof reason === 'string' ? reason : JSON.stringify(reason);
  } catch {
    return undefined;
  }
}
