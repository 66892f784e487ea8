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
export function trieOrder(prompts: readonly (readonly number[])[]): TrieOrder {
  const order = prompts.map((_, i) => i);
  order.sort((a, b) => compare(prompts[a] ?? [], prompts[b] ?? []) || a - b);
  const asked: number[] = [];
  const shared: number[] = [];
  const placeOf = new Array<number>(prompts.length);
  for (const i of order) {
    const prompt = prompts[i] ?? [];
    const before = prompts[asked.at(-1) ?? -1] ?? [];
    const common = commonLength(before, prompt);
    if (asked.length === 0 || common < prompt.length || before.length > common) {
      asked.push(i);
      shared.push(common);
    }
    placeOf[i] = asked.length - 1;
  }
  return { asked, shared, placeOf };
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const common = commonLength(a, b);
  return (a[common] ?? -1) - (b[common] ?? -1);
}
