/** The order in which a process stops, as data. */

export interface DrainStep {
  readonly name: string;
  /** Milliseconds after which the next step begins without this one. */
  readonly budgetMs: number;
  /** Told the budget, from which the limits within it are derived. */
  readonly act: (budgetMs: number) => Promise<void> | void;
}

/** A step for each thing to close, in this order: one that hangs takes no other's time. */
export function closing(
  budgetMs: number,
  closes: Readonly<Record<string, DrainStep['act'] | undefined>>,
): DrainStep[] {
  return Object.entries(closes).flatMap(([what, act]) =>
    act === undefined ? [] : [{ name: `${what} close`, budgetMs, act }],
  );
}

export interface DrainReport {
  readonly name: string;
  readonly milliseconds: number;
  readonly outcome: 'done' | 'failed' | 'out of time';
  readonly error?: unknown;
}

async function runStep(step: DrainStep): Promise<DrainReport> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<'out of time'>((resolve) => {
    timer = setTimeout(() => resolve('out of time'), step.budgetMs);
  });
  let error: unknown;
  const work = Promise.resolve()
    .then(() => step.act(step.budgetMs))
    .then(
      () => 'done' as const,
      (thrown: unknown) => {
        error = thrown;
        return 'failed' as const;
      },
    );
  const outcome = await Promise.race([work, expiry]);
  clearTimeout(timer);
  const milliseconds = performance.now() - started;
  const report = { name: step.name, milliseconds, outcome };
  return error === undefined ? report : { ...report, error };
}

/**
 * Runs the steps once, in order, whatever becomes of each; later calls get the first one's result.
 */
export class Drain {
  private running: Promise<readonly DrainReport[]> | undefined;

  constructor(
    private readonly steps: readonly DrainStep[],
    private readonly onStep: (report: DrainReport) => void,
  ) {}

  run(): Promise<readonly DrainReport[]> {
    this.running ??= this.runAll();
    return this.running;
  }

  private async runAll(): Promise<readonly DrainReport[]> {
    const reports: DrainReport[] = [];
    for (const step of this.steps) {
      const report = await runStep(step);
      reports.push(report);
      this.onStep(report);
    }
    return reports;
  }
}
