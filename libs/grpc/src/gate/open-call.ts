/** A call that was let through and has not ended. */
export interface OpenCall {
  /** `isAnswered`: the server has ended the call; else the caller or the connection did. */
  end(isAnswered: boolean): void;
}
