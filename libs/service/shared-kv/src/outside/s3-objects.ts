import {
  BucketClient,
  type BucketSettings,
  bucketFault,
  isAbsent,
  type PutCondition,
  statusOf,
} from '@tessera/buckets';

/** State of an object in which it may be put or removed; left out: any. */
export interface ObjectCondition {
  /** ETag that it has; '': it is not there. */
  readonly revision: string;
}

export interface FoundObject {
  readonly bytes: Buffer;
  readonly revision: string;
}

const NOT_IMPLEMENTED = 501;
/** The object is another one, is not there, or somebody else is about to put it. */
const CHANGED: readonly unknown[] = [404, 409, 412];
/** An ETag that no object has. */
const NO_REVISION = '"00000000000000000000000000000000"';

/** Objects of one bucket, with conditions also where the store has none. */
export class S3Objects {
  private readonly client: BucketClient;
  private conditions: Promise<boolean> | undefined;
  /** Bytes of objects, and answers. */
  arrived = 0;

  /**
   * @param place for messages
   * @param probeKey of an object that shows whether the store knows conditions
   */
  constructor(
    private readonly place: string,
    private readonly bucket: string,
    private readonly probeKey: string,
    settings: BucketSettings,
    private readonly timeoutMs: number,
  ) {
    this.client = new BucketClient(settings, timeoutMs);
  }

  async get(key: string): Promise<FoundObject | undefined> {
    return this.act(async (signal) => {
      try {
        const { body, etag } = await this.client.get(this.at(key), signal);
        const parts: Uint8Array[] = [];
        this.arrived += 1;
        for await (const part of body) {
          parts.push(part);
          this.arrived += (part as Uint8Array).length;
        }
        return { bytes: Buffer.concat(parts), revision: etag };
      } catch (thrown) {
        if (isAbsent(thrown)) return undefined;
        throw thrown;
      }
    });
  }

  /** Its new revision; undefined: the object is not what the condition wants, nothing was put. */
  async put(key: string, bytes: Uint8Array, must?: ObjectCondition): Promise<string | undefined> {
    if (must === undefined) return this.send(key, bytes, {});
    if (!(await this.knowsConditions())) {
      return (await this.holds(key, must)) ? this.send(key, bytes, {}) : undefined;
    }
    const { revision } = must;
    const condition: PutCondition = revision === '' ? { IfNoneMatch: '*' } : { IfMatch: revision };
    try {
      return await this.send(key, bytes, condition);
    } catch (thrown) {
      if (CHANGED.includes(causedStatus(thrown)) && !isBucketAbsent(thrown)) return undefined;
      throw thrown;
    }
  }

  /** Does nothing where the object is not there, or not what the condition wants. */
  async remove(key: string, must?: ObjectCondition): Promise<void> {
    if (must !== undefined && !(await this.holds(key, must))) return;
    await this.act((signal) => this.client.remove(this.at(key), signal));
  }

  async *keysBelow(prefix: string): AsyncGenerator<readonly string[]> {
    let from = '';
    do {
      const start = from;
      const page = await this.act((signal) => this.client.keys(this.bucket, prefix, start, signal));
      yield page.keys;
      from = page.next;
    } while (from !== '');
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private at(key: string) {
    return { bucket: this.bucket, key };
  }

  private send(key: string, content: Uint8Array, condition: PutCondition): Promise<string> {
    const body = { bytes: content.length, content };
    return this.act((signal) => this.client.put(this.at(key), body, condition, signal));
  }

  private async holds(key: string, { revision }: ObjectCondition): Promise<boolean> {
    const there = await this.act(async (signal) => {
      try {
        return (await this.client.head(this.at(key), signal)).etag ?? '';
      } catch (thrown) {
        if (isAbsent(thrown)) return '';
        throw thrown;
      }
    });
    return there === revision;
  }

  /** Some stores refuse a condition, others take no notice of it. */
  private knowsConditions(): Promise<boolean> {
    this.conditions ??= this.probe().catch((thrown) => {
      this.conditions = undefined;
      throw thrown;
    });
    return this.conditions;
  }

  private async probe(): Promise<boolean> {
    const bytes = new Uint8Array([1]);
    await this.send(this.probeKey, bytes, {});
    try {
      await this.send(this.probeKey, bytes, { IfMatch: NO_REVISION });
      return false;
    } catch (thrown) {
      const status = causedStatus(thrown);
      if (status === NOT_IMPLEMENTED) return false;
      if (CHANGED.includes(status)) return true;
      throw thrown;
    }
  }

  private async act<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await act(AbortSignal.timeout(this.timeoutMs));
    } catch (thrown) {
      throw bucketFault(this.place, thrown);
    }
  }
}

const causedStatus = (thrown: unknown) => statusOf((thrown as Error).cause);
const isBucketAbsent = (thrown: unknown) =>
  ((thrown as Error).cause as Error).name === 'NoSuchBucket';
