import { type Channel, serveCalls } from '@tessera/processes';
import { DuckDbRecorder, type RecorderOptions } from '../outside/duckdb-recorder.js';

const RETENTION_PERIOD_MS = 60_000;

/** Methods that the service may call. `open` comes first, `close` last. */
export type RecorderMethods = Pick<
  DuckDbRecorder,
  | 'writeRecalls'
  | 'writePulses'
  | 'writeChanges'
  | 'recalls'
  | 'recall'
  | 'changes'
  | 'pulses'
  | 'eraseUser'
  | 'sizes'
  | 'retain'
  | 'snapshot'
  | 'close'
> & { open(options: RecorderOptions): Promise<void> };

const METHODS: ReadonlySet<string> = new Set([
  ...['writeRecalls', 'writePulses', 'writeChanges', 'recalls', 'recall', 'changes', 'pulses'],
  ...['eraseUser', 'sizes', 'retain', 'snapshot', 'close'],
]);

/** Of `Shelf`, under this name and a dot. */
const SHELF = 'shelf.';

/** The process that alone writes the inspection store. */
export function serveRecorder(channel: Channel): void {
  const server = new RecorderServer();
  serveCalls(channel, (method, values) => server.answer(method, values));
}

class RecorderServer {
  private recorder: DuckDbRecorder | undefined;

  async answer(method: string, values: readonly unknown[]): Promise<unknown> {
    if (method === 'open') {
      this.recorder = await DuckDbRecorder.open(values[0] as RecorderOptions, report);
      const retain = () => void this.recorder?.retain(Date.now()).catch(report);
      setInterval(retain, RETENTION_PERIOD_MS).unref();
      return undefined;
    }
    const { recorder } = this;
    if (recorder === undefined) throw new Error('expected open() before any other call');
    const isShelf = method.startsWith(SHELF);
    const target: object = isShelf ? recorder.shelf : recorder;
    const name = isShelf ? method.slice(SHELF.length) : method;
    const act = (target as Record<string, unknown>)[name];
    if (typeof act !== 'function' || (!isShelf && !METHODS.has(name))) {
      throw new Error(`expected a method of the store, got ${method}`);
    }
    return (act as (...given: readonly unknown[]) => Promise<unknown>).apply(target, [...values]);
  }
}

function report(thrown: unknown): void {
  process.stderr.write(`the inspection store: ${String(thrown)}\n`);
}
