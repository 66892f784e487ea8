/** Milliseconds between two questions whether the process answers. */
const PING_MS = 5000;
/** Questions in a row that nobody answers: the process stands still. */
const UNANSWERED_MAX = 3;

export interface AnswerWatchParts {
  /** Asks the process; whatever comes back is told by answered(). */
  readonly ask: () => void;
  /** Told once, with what the process did not do: it is to be ended. */
  readonly onSilent: (how: string) => void;
  /** Milliseconds between two questions; left out: five seconds. */
  readonly pingMs?: number | undefined;
}

/** Every child has one: a process that stands still would hold all who wait for it. */
export class AnswerWatch {
  private unanswered = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: AnswerWatchParts) {
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
      return;
    }
    this.unanswered += 1;
    this.parts.ask();
  }
}
