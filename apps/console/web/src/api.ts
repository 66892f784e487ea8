/** Asking the API of the console. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | undefined,
    /** Milliseconds after which another try may have better luck; left out: it will not. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

interface ErrorBody {
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly field?: string;
    readonly retryAfterMs?: number;
  };
}

/** Path beside the page, whatever path a proxy puts before both. */
export const pathOf = (path: string) => `api/${path}`;

async function asked(method: string, path: string, body: unknown, signal?: AbortSignal) {
  const headers: Record<string, string> = { 'x-tessera-console': '1' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  let reply: Response;
  try {
    reply = await fetch(pathOf(path), { method, headers, ...sent, ...(signal && { signal }) });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, 'UNREACHABLE', 'The service does not answer.', undefined);
  }
  if (reply.ok) return reply;
  const { error } = (await reply.json().catch(() => ({}))) as ErrorBody;
  const { code = 'INTERNAL', message = reply.statusText, field, retryAfterMs } = error ?? {};
  throw new ApiError(reply.status, code, message, field, retryAfterMs);
}

export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return (await asked('GET', path, undefined, signal)).json() as Promise<Answer>;
}

export async function post<Answer>(
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  return (await asked('POST', path, body, signal)).json() as Promise<Answer>;
}

export async function remove<Answer>(path: string): Promise<Answer> {
  return (await asked('DELETE', path, undefined)).json() as Promise<Answer>;
}

/** Values of an answer that comes line by line. */
export async function* postLines<Line>(
  path: string,
  body: unknown,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const reply = await asked('POST', path, body, signal);
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value = '' } = (await reader?.read()) ?? { done: true };
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line;
    if (done) return;
  }
}

/** An address with the parts of a query that say something. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === '' ? path : `${path}?${text}`;
}
