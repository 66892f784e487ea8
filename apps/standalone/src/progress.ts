import type { ProgressListener } from '@tessera/catalogue';

const LINE_INTERVAL_MS = 1000;
const PERCENT = 100;

/** Prints a stage when it begins, at most one line per second while it runs, and its seconds. */
export class ProgressLines {
  private stage = '';
  private stageStarted = 0;
  private lastLine = 0;

  constructor(
    private readonly write: (line: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  readonly listener: ProgressListener = (stage, done, total) => {
    if (stage !== this.stage) this.begin(stage);
    else if (this.now() - this.lastLine >= LINE_INTERVAL_MS) this.line(done, total);
  };

  /** Ends the stage that runs. */
  end(): void {
    if (this.stage === '') return;
    const seconds = (this.now() - this.stageStarted) / 1000;
    this.write(`  ${this.stage}: ${seconds.toFixed(1)} s`);
    this.stage = '';
  }

  private begin(stage: string): void {
    this.end();
    this.stage = stage;
    this.stageStarted = this.now();
    this.lastLine = this.stageStarted;
    this.write(`  ${stage} ...`);
  }

  private line(done: number, total: number): void {
    this.lastLine = this.now();
    const share = total > 0 ? `${Math.floor((done / total) * PERCENT)} %` : String(done);
    this.write(`  ${this.stage}: ${share}`);
  }
}
