import type { ChildLimits, SentError } from '@tessera/processes';
import type { ExportFormat } from '../domain/inspection-store.js';

/** Order of the service to the process that starts others, which it numbers. */
export type LaunchOrder =
  | {
      readonly kind: 'start';
      readonly number: number;
      /** Arguments of Node. */
      readonly program: readonly string[];
      readonly limits: ChildLimits;
    }
  | { readonly kind: 'send'; readonly number: number; readonly message: unknown }
  | { readonly kind: 'kill'; readonly number: number }
  /** Answered by the same at once. */
  | { readonly kind: 'ping' };

export type LaunchReply =
  | { readonly kind: 'ping' }
  | { readonly kind: 'message'; readonly number: number; readonly message: unknown }
  /** Nothing follows; with a reason where it could not be started. */
  | { readonly kind: 'ended'; readonly number: number; readonly reason: string };

/**
 * Of the service to a process that answers one query: `warm` where it may wait, then `ask`, then
 * `data`, its place.
 */
export type QueryOrder =
  | { readonly kind: 'warm' }
  | {
      readonly kind: 'ask';
      /** Statements; an analyst's is a single one, which is checked. */
      readonly statements: readonly string[];
      /** Made by the service itself: not checked. */
      readonly isOwn: boolean;
      /** When it was asked, milliseconds since 1970. */
      readonly askedMs: number;
      readonly form: QueryForm;
      readonly rowsMax: number;
      readonly answerBytesMax: number;
      readonly memoryBytes: number;
      readonly diskBytes: number;
    }
  | {
      readonly kind: 'data';
      /** Folder of the query alone. */
      readonly folder: string;
      readonly place: DataPlace;
    };

/** Place of what a query reads. */
export interface DataPlace {
  /** Folder of the facts. */
  readonly folder: string;
  /** Folder of the work of analysts. */
  readonly shelf: string;
  /** Keys of scenes that are columns. */
  readonly sceneKeys: readonly string[];
}

/** `json` and `rows` come back as text, the others as files. */
export type QueryForm = 'json' | 'rows' | ExportFormat;

export type QueryEnd =
  | { readonly kind: 'answered'; readonly json: Uint8Array }
  | { readonly kind: 'exported'; readonly path: string }
  | { readonly kind: 'refused'; readonly error: SentError };

export type QueryReply =
  | { readonly kind: 'allowed' }
  /** `hasRoom`: the process could still take the memory of another such query. */
  | (QueryEnd & { readonly hasRoom: boolean });
