/** The part of `process` by which a child talks to its parent. */
export interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  send?(message: unknown, onSent: (error: Error | null) => void): unknown;
}

/** Resolves when the message has been handed over whole. */
export function sendAll(channel: Channel, message: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (channel.send === undefined) {
      reject(new Error('expected a channel to the process that started this one'));
      return;
    }
    channel.send(message, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

/** At once: a statement that still runs on a thread would hold up an orderly end. */
export function endProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
