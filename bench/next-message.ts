import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * The next message of a child that was forked.
 * @throws Error where the child ends first
 */
export async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = async (): Promise<never> => {
    const [code, killedBy] = await once(child, 'exit', { signal });
    throw new Error(`expected a message of ${child.spawnargs[1]}, it ended: ${killedBy ?? code}`);
  };
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended()]);
    return message as T;
  } finally {
    heard.abort();
  }
}
