/** Places that the keys and values of parts of a prompt are from. */

/** Tokens of a prompt by the place of their keys and values. */
export interface PromptSources {
  readonly sharedTokens: number;
  readonly computedTokens: number;
  /** Tokens of each tier that found some, by its name. */
  readonly tokensByTier: Readonly<Record<string, number>>;
}

/**
 * In the order of the prompt: what is found is its beginning, and chains leave the device from
 * their end; what other requests computed comes next, and what is left was computed.
 */
function inOrder(kv: PromptSources): readonly (readonly [source: string, tokens: number])[] {
  const byTier = Object.entries(kv.tokensByTier);
  return [...byTier, ['shared', kv.sharedTokens], ['computed', kv.computedTokens]];
}

/** Tokens of [first, end) by source; sources without any are left out. */
export function sourcesOf(
  [first, end]: readonly [number, number],
  kv: PromptSources,
): readonly { readonly source: string; readonly tokens: number }[] {
  let begin = 0;
  return inOrder(kv).flatMap(([source, count]) => {
    const next = begin + count;
    const tokens = Math.min(end, next) - Math.max(first, begin);
    begin = next;
    return tokens > 0 ? [{ source, tokens }] : [];
  });
}

/** When the oldest of what an adapter went on with was computed. */
export function ageOf(versionsBack: number): string {
  return versionsBack === 1
    ? 'one adapter version before'
    : `up to ${versionsBack} adapter versions before`;
}

/** Fewer computed tokens than this do not tell what one costs. */
const TOKENS_FOR_RATE = 16;

/** Microseconds that computing a token took in this recall; undefined where that is not known. */
export function usPerToken(kv: PromptSources, prefillUs: number): number | undefined {
  return kv.computedTokens < TOKENS_FOR_RATE ? undefined : prefillUs / kv.computedTokens;
}
