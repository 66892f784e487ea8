import type { ChildProcess } from 'node:child_process';

/** Milliseconds between two questions whether the process answers. */
const PING_MS = 5000;
/** Questions in a row that nobody answers: the process stands still. */
const UNANSWERED_MAX = 3;

export interface AnswerWatchParts {
  /** Asks the process; whatever comes back is told by answered(). */
  readonly ask: () => void;
  /** Told once, before the process is ended, with what it did not do. */
  readonly onSilent: (how: string) => void;
  /** Milliseconds between two questions; left out: five seconds. */
  readonly pingMs?: number | undefined;
}

/** Watch over a child, which it ends where it stands still: all who wait for it would be held. */
export class AnswerWatch {
  private unanswered = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly child: Pick<ChildProcess, 'kill'>,
    private readonly parts: AnswerWatchParts,
  ) {
    this.timer = setInterval(() => this.beat(), parts.pingMs ?? PING_MS);
    this.timer.unref();
  }

  answered(): void {
    this.unanswered = 0;
  }

  end(): void {
    clearInterval(this.timer);
  }

  private beat(): void {
    if (this.unanswered >= UNANSWERED_MAX) {
      this.end();
      this.parts.onSilent(`it has answered none of ${UNANSWERED_MAX} questions`);
      this.child.kill('SIGKILL');
      return;
    }
    this.unanswered += 1;
    this.parts.ask();
  }
}
