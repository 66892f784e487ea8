/** The order in which prompts share the most, and what each shares with those before it. */
export interface TrieOrder {
  /** Indices of the prompts that are asked for: of equal ones the first. */
  readonly asked: readonly number[];
  /** Per place of `asked`: first tokens in common with the prompt before it. */
  readonly shared: readonly number[];
  /** Per prompt: the place in `asked` that answers it. */
  readonly placeOf: readonly number[];
}

/**
 * By their tokens: then what a prompt has in common with any prompt before it, it has in common
 * with its neighbour, so that nothing is computed twice as long as neighbours run beside or behind
 * each other.
 */
export function trieOrder(prompts: readonly Int32Array[]): TrieOrder {
  const order = prompts.map((_, i) => i);
  const [first = NONE] = prompts;
  // The prefix that all share, a long query for one, is compared once.
  const from = prompts.reduce((least, of) => commonLength(first, of, 0, least), first.length);
  order.sort((a, b) => compare(prompts[a] ?? NONE, prompts[b] ?? NONE, from) || a - b);
  const asked: number[] = [];
  const shared: number[] = [];
  const placeOf = new Array<number>(prompts.length);
  for (const i of order) {
    const prompt = prompts[i] ?? NONE;
    const before = prompts[asked.at(-1) ?? -1] ?? NONE;
    const common = asked.length === 0 ? 0 : commonLength(before, prompt, from);
    if (asked.length === 0 || common < prompt.length || before.length > common) {
      asked.push(i);
      shared.push(common);
    }
    placeOf[i] = asked.length - 1;
  }
  return { asked, shared, placeOf };
}

const NONE = new Int32Array();

/** First tokens in common, of which `from` are known to be, and no more than `end`. */
function commonLength(a: Int32Array, b: Int32Array, from: number, end = a.length): number {
  const most = Math.min(a.length, b.length, end);
  let length = from;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}

function compare(a: Int32Array, b: Int32Array, from: number): number {
  const common = commonLength(a, b, from);
  return (a[common] ?? -1) - (b[common] ?? -1);
}
