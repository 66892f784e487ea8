import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * Values that are given away and come back, and are only believed as this process gave them and in
 * time: nothing has to be kept for those who never come back.
 */
export class Seal<Value> {
  private readonly key = randomBytes(KEY_BYTES);

  constructor(
    private readonly lifetimeMs: number,
    /** Milliseconds since 1970. */
    private readonly nowMs: () => number,
  ) {}

  close(value: Value): string {
    const content = { value, endsMs: this.nowMs() + this.lifetimeMs };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.sign(text).toString('base64url')}`;
  }

  /** Undefined: it is not of here, or too old. */
  open(sealed: string): Value | undefined {
    const [text = '', signature = ''] = sealed.split('.');
    const expected = this.sign(text);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const content = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
      readonly value: Value;
      readonly endsMs: number;
    };
    return content.endsMs > this.nowMs() ? content.value : undefined;
  }

  private sign(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }
}
