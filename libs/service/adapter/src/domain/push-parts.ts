import type { AdapterFile } from './adapter-version.js';

export interface PushHeader {
  readonly name: string;
  readonly baseModel: string;
  readonly files: readonly AdapterFile[];
  readonly remark: string;
  /** Left out: a person. */
  readonly holder?: string;
  /** Left out: the push takes no lease, also not for its holder. */
  readonly leaseSeconds?: number;
  /** Milliseconds since 1970; left out or 0: not known. */
  readonly learnedUntilMs?: number;
}

/** A push as it comes in: one header, bytes in the order of its files, an end. */
export type PushPart =
  | { readonly header: PushHeader }
  | { readonly data: Uint8Array }
  | { readonly isEnd: true };

/** The parts of a push; ends early where the client goes away. */
export type PushParts = AsyncIterable<PushPart>;
