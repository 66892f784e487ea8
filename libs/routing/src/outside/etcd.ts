import { TesseraError } from '@tessera/errors';

const ANSWER_MS_MAX = 2000;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString();

interface RangeAnswer {
  readonly kvs?: readonly { readonly value: string }[];
}

/** What is used of etcd v3 (3.4 and later), by the JSON gateway that every etcd serves. */
export class Etcd {
  private readonly addresses: readonly string[];

  /** HOST:PORT of members of the etcd cluster, by commas; the first that answers is asked. */
  constructor(addresses: string) {
    this.addresses = addresses.split(',').map((address) => address.trim());
  }

  /** Values of all keys that begin so. */
  async valuesUnder(prefix: string): Promise<readonly string[]> {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    const range = { key: base64(prefix), range_end: base64(end) };
    const { kvs = [] } = await this.ask<RangeAnswer>('kv/range', range);
    return kvs.map(({ value }) => fromBase64(value));
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

  /** Puts a new key. @returns the value that is there instead; undefined: it is put */
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
    let last: unknown;
    for (const address of this.addresses) {
      try {
        const reply = await fetch(`http://${address}/v3/${method}`, {
          method: 'POST',
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(ANSWER_MS_MAX),
        });
        const answer = (await reply.json()) as Answer & { error?: unknown };
        if (reply.ok) return answer;
        last = new Error(JSON.stringify(answer.error ?? answer));
      } catch (thrown) {
        last = thrown;
      }
    }
    const reason = last instanceof Error ? last.message : String(last);
    const addresses = this.addresses.join(', ');
    const message = `cluster.etcd: expected an answer of ${addresses}, got ${reason}`;
    throw new TesseraError('STORE_UNAVAILABLE', message, { field: 'cluster.etcd', cause: last });
  }
}
