/** Structures of adapters; see abi.ts. */

/** What an adapter may be. */
export interface AdapterLimits {
  /** 1..128. */
  readonly rankMax: number;
  /** Of any target: Frobenius norm of scale * B * A; above 0. */
  readonly normMax: number;
}

/** An adapter in the engine's arena. */
export interface AdapterInfo {
  /** Requests name it by this until it has been released as often as it was loaded. */
  readonly slot: number;
  /** Of what configuration and tensors make of the model, not of names and times. */
  readonly digest: string;
  readonly bytes: number;
  readonly rankMax: number;
  /** Matrices with low-rank factors. */
  readonly targetCount: number;
  /** Rows of the embedding and of the head; those of both count once. */
  readonly replacedRows: number;
  readonly largestNorm: number;
}

export interface AdapterArena {
  readonly usedBytes: number;
  readonly maxBytes: number;
  readonly adapters: number;
}
