/** The part of the engine that the registry uses. */

/** Limits of an adapter. */
export interface AdapterLimits {
  readonly rankMax: number;
  readonly normMax: number;
}

/** An adapter in the engine's arena. Requests name the one they run with. */
export interface EngineAdapter {
  readonly digest: string;
  /** Bytes of the arena that it takes. */
  readonly bytes: number;
  readonly rankMax: number;
  readonly targetCount: number;
  readonly replacedRows: number;
  readonly largestNorm: number;
  /** Names, in the order of answers; none: the adapter ranks nothing. */
  readonly heads: readonly string[];
  /** It changes the rows of ranked items alone. */
  readonly isActivated: boolean;
}

export interface AdapterEngine {
  readonly model: { readonly digest: string };
  loadAdapter(folder: string, limits: AdapterLimits): Promise<EngineAdapter>;
  releaseAdapter(adapter: EngineAdapter): void;
  /** Users of the adapter may go on with what was computed for them under its predecessor. */
  succeedAdapter(adapter: EngineAdapter, predecessor: EngineAdapter): void;
  adapterArena(): { readonly usedBytes: number; readonly maxBytes: number };
}

/**
 * True if the adapter with heads changes nothing of a prompt: it ranks requests that run with any
 * other one.
 */
export function ranksApart({ isActivated, targetCount, replacedRows }: EngineAdapter): boolean {
  return isActivated || (targetCount === 0 && replacedRows === 0);
}
