/** An engine's answer to a prompt; members that it cannot give are absent. */
export interface PeerAnswer {
  readonly prefillMs?: number;
  /** All decode passes together. */
  readonly decodeMs?: number;
  /** The whole recall. */
  readonly totalMs?: number;
  /** Logits of the first level's codes after the prompt. */
  readonly firstLogits?: readonly number[];
  /** Best first. */
  readonly paths?: readonly { readonly score: number; readonly sid: readonly number[] }[];
}

export interface PeerRequest {
  readonly width: number;
  readonly tokens: Int32Array;
}

/** An engine under comparison, in this process or in one of its own. */
export interface Peer {
  readonly name: string;
  ask(request: PeerRequest): Promise<PeerAnswer>;
  close(): Promise<void>;
}

/** Settings of a peer. */
export interface PeerSetting {
  /** Hugging Face folder, weights in BF16. */
  readonly modelPath: string;
  readonly sidsPath: string;
  readonly levels: number;
  readonly codes: number;
  readonly threads: number;
  /** Length of every prompt that will be asked: some graphs are made for one. */
  readonly promptTokens: number;
}
