import type { ChildLimits, SentError } from '@tessera/processes';

/** Of the service to the process that starts others, which it numbers. */
export type LaunchOrder =
  | {
      readonly kind: 'start';
      readonly number: number;
      /** As arguments of Node. */
      readonly program: readonly string[];
      readonly limits: ChildLimits;
    }
  | { readonly kind: 'send'; readonly number: number; readonly message: unknown }
  | { readonly kind: 'kill'; readonly number: number };

export type LaunchReply =
  | { readonly kind: 'message'; readonly number: number; readonly message: unknown }
  /** Nothing follows; with a reason where it could not be started. */
  | { readonly kind: 'ended'; readonly number: number; readonly reason: string };

/** Of the service to a process that answers one query: first `ask`, then `data`, its place. */
export type QueryOrder =
  | {
      readonly kind: 'ask';
      readonly sql: string;
      readonly form: QueryForm;
      readonly rowsMax: number;
      readonly answerBytesMax: number;
      readonly memoryBytes: number;
      readonly diskBytes: number;
    }
  | { readonly kind: 'data'; readonly path: string };

/** `json` comes back as text, the others as files. */
export type QueryForm = 'json' | 'csv' | 'parquet';

export type QueryReply =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'answered'; readonly json: Uint8Array }
  | { readonly kind: 'exported'; readonly path: string }
  | { readonly kind: 'refused'; readonly error: SentError };
