type Listener = (event: unknown) => void;

/**
 * The caller's wish to go on, as far as anybody here needs it: any AbortSignal is one. Where calls
 * are short and many an edge has one that costs less.
 */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: Listener): void;
}
