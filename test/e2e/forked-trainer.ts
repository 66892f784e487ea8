import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** Commands of `python -m trainer` in processes that share the imports, one after another. */
export class ForkedTrainer {
  private readonly child: ChildProcess;
  private readonly answers: AsyncIterator<string>;

  constructor(python: string) {
    const paths = [process.cwd(), process.env.PYTHONPATH ?? ''].filter((path) => path !== '');
    const env = {
      ...process.env,
      PYTHONPATH: paths.join(':'),
      // The trainer asks the Node of its path for the digest of weights.
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    };
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    this.child = spawn(python, ['test/e2e/forked_trainer.py'], { env, stdio: [...stdio] });
    const lines = createInterface(this.child.stdout as NodeJS.ReadableStream);
    this.answers = lines[Symbol.asyncIterator]();
  }

  /** Output of a command. Rejects with it where the command fails. */
  async run(...words: string[]): Promise<string> {
    this.child.stdin?.write(`${JSON.stringify(words)}\n`);
    const { value, done } = await this.answers.next();
    if (done === true) throw new Error('the process that forks has ended');
    const { status, output } = JSON.parse(value) as { status: number; output: string };
    if (status !== 0) throw new Error(`${words.join(' ')}: ended with ${status}\n${output}`);
    return output;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.stdin?.end();
    await ended;
  }
}
