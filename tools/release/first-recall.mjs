// Every form of a release must start, and answer a recall.

const SERVED = /^ {2}HTTP\s+(http:\/\/\S+)\/v1\/recall$/m;

/** Resolves with the URL that a process prints; rejects when it ends before. */
function served(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [, url] = SERVED.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', (status, signal) => {
      reject(new Error(`it ended with ${signal ?? status} before it served:\n${said}`));
    });
  });
}

async function recall(url) {
  const reply = await fetch(`${url}/v1/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userId: '1', resultCount: 5 }),
  });
  const { items, error } = await reply.json();
  if (reply.status !== 200 || items.length !== 5) {
    throw new Error(`expected 5 items, got ${reply.status} ${JSON.stringify(error ?? items)}`);
  }
  return items.length;
}

/**
 * Asks a service that starts for a recall, and ends it.
 * @param child with a pipe as its standard output
 * @param end ends it
 * @returns how many items it answered, and milliseconds from now to the answer
 */
export async function recallFrom(child, withinMs, end = () => child.kill()) {
  const started = Date.now();
  let timer;
  const late = new Promise((_, reject) => {
    const message = `expected an answer within ${withinMs} ms, got none`;
    timer = setTimeout(() => reject(new Error(message)), withinMs);
  });
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  try {
    const count = await Promise.race([served(child).then(recall), late]);
    return { count, ms: Date.now() - started };
  } finally {
    clearTimeout(timer);
    end();
    await ended;
  }
}
