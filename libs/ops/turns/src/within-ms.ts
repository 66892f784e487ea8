/** As the work settles; rejects where that takes more milliseconds, and the work goes on. */
export function withinMs<T>(budgetMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${budgetMs} ms`)), budgetMs);
  });
  return Promise.race([work, expiry]).finally(() => clearTimeout(timer));
}
