/** Attempt; several may be made for the same answer. */
export type Ask<Answer> = (signal: AbortSignal) => Promise<Answer>;

/**
 * Asks the first, and the next one as well where one has failed or has said nothing for `afterMs`.
 * The call must be repeatable: several places may answer it. Calls slower than the first answer
 * are aborted.
 * @returns the first answer, and the place of the one that gave it
 * @throws what the last of them failed with, where none answers
 */
export function hedged<Answer>(
  asks: readonly Ask<Answer>[],
  afterMs: number,
): Promise<{ readonly answer: Answer; readonly place: number }> {
  const stop = new AbortController();
  let begun = 0;
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  const asked = new Promise<{ readonly answer: Answer; readonly place: number }>(
    (resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        const place = begun;
        const ask = asks[place];
        if (ask === undefined) return;
        begun += 1;
        running += 1;
        timer = setTimeout(begin, afterMs);
        ask(stop.signal).then(
          (answer) => resolve({ answer, place }),
          (error: unknown) => {
            running -= 1;
            begin();
            if (running === 0) reject(error);
          },
        );
      };
      begin();
    },
  );
  return asked.finally(() => {
    clearTimeout(timer);
    begun = asks.length;
    stop.abort();
  });
}
