import type { Completions, RequestKindCode } from '@tessera/native';
import {
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineWork,
} from './engine.js';
import { readAnswer, readAppended, readScores } from './read-completions.js';

/** What a request says beside its prompt; each kind fills in what it has. */
export type OwnFields = Omit<EngineRequest, keyof EngineWork> &
  Pick<EngineScoreRequest, 'sids' | 'scoreNorm'>;

/**
 * A kind of request on this side of the boundary, and all that depends on it; the other side is a
 * task of native/src/engine/tasks.
 */
export interface RequestKind<Request, Answer> {
  /** The task's place in native/src/engine/tasks/tasks.cc. */
  readonly code: RequestKindCode;
  readonly fields: (request: Request) => OwnFields;
  readonly read: (completions: Completions, index: number, modelDigest: string) => Answer;
}

const NO_FIELDS: OwnFields = {
  widths: [],
  resultCount: 0,
  itemsPerSid: 0,
  sids: [],
  scoreNorm: 'full',
};

export const RECALL: RequestKind<EngineRequest, EngineAnswer> = {
  code: 0,
  fields: (request) => ({ ...request, sids: [] }),
  read: readAnswer,
};

export const SCORE: RequestKind<EngineScoreRequest, EngineScores> = {
  code: 1,
  fields: ({ sids, scoreNorm }) => ({ ...NO_FIELDS, sids, scoreNorm }),
  read: readScores,
};

export const APPEND: RequestKind<EngineAppendRequest, EngineAppended> = {
  code: 2,
  fields: () => NO_FIELDS,
  read: readAppended,
};
