import { type ErrorCode, TesseraError } from '@tessera/errors';

/** A value of a parsed JSON document together with its path, so that every complaint names it. */
export class JsonField {
  constructor(
    private readonly code: ErrorCode,
    /** Name of the file, e.g. `prompt.json`. */
    private readonly file: string,
    readonly path: string,
    readonly value: unknown,
  ) {}

  fail(expected: string): never {
    const where = this.path === '' ? this.file : `${this.file}: ${this.path}`;
    throw new TesseraError(
      this.code,
      `${where}: expected ${expected}, got ${describe(this.value)}`,
      { field: this.path === '' ? this.file : this.path },
    );
  }

  get absent(): boolean {
    return this.value === undefined;
  }

  /** The child under a key of an object; its value is undefined where the key is absent. */
  key(name: string): JsonField {
    const path = this.path === '' ? name : `${this.path}.${name}`;
    const object = this.object();
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    return new JsonField(this.code, this.file, path, value);
  }

  object(): Record<string, unknown> {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) {
      return this.fail('an object');
    }
    return this.value as Record<string, unknown>;
  }

  /** Refuses keys that the format does not know: a typing error must not pass in silence. */
  onlyKeys(known: readonly string[]): void {
    for (const name of Object.keys(this.object())) {
      if (!known.includes(name)) this.key(name).fail(`no such key (known: ${known.join(', ')})`);
    }
  }

  entries(): [string, JsonField][] {
    return Object.keys(this.object()).map((name) => [name, this.key(name)]);
  }

  array(countMin: number, countMax: number): JsonField[] {
    if (!Array.isArray(this.value)) return this.fail('an array');
    const count = this.value.length;
    if (count < countMin || count > countMax) {
      return this.fail(`${countMin}..${countMax} elements`);
    }
    return this.value.map(
      (value, index) => new JsonField(this.code, this.file, `${this.path}[${index}]`, value),
    );
  }

  text(lengthMax: number): string {
    if (typeof this.value !== 'string') return this.fail('a string');
    if (this.value.length > lengthMax) return this.fail(`at most ${lengthMax} characters`);
    if (LONE_SURROGATE.test(this.value)) return this.fail('well-formed Unicode');
    return this.value;
  }

  filledText(lengthMax: number): string {
    const text = this.text(lengthMax);
    return text === '' ? this.fail('a text that is not empty') : text;
  }

  integer(min: number, max: number): number {
    const value = this.value;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      return this.fail(`an integer in ${min}..${max}`);
    }
    return value;
  }

  finite(): number {
    const { value } = this;
    return typeof value === 'number' && Number.isFinite(value) ? value : this.fail('a number');
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const DESCRIPTION_LENGTH_MAX = 60;

/** A short rendering of any JSON value for a message. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= DESCRIPTION_LENGTH_MAX
    ? text
    : `${text.slice(0, DESCRIPTION_LENGTH_MAX)}… (${text.length} characters)`;
}
