import type { Handler, Read, UnaryHandler } from './handler.js';

/** Handlers of one service under the paths of its methods. */
export function service(
  name: string,
  methods: Readonly<Record<string, Handler>>,
): [path: string, handler: Handler][] {
  return Object.entries(methods).map(([method, handler]) => [`/${name}/${method}`, handler]);
}

/** A handler that needs the message and nothing of the call. */
export const plain =
  <Request, Response>(
    answer: (message: Request) => Response | Promise<Response>,
  ): UnaryHandler<Request, Response> =>
  (read: Read<Request>) =>
    answer(read());
