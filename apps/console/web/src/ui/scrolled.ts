/** Properties of a table that has nothing to press: keys scroll it where it is too wide. */
export const SCROLLED_BY_KEYS = { viewportProps: { tabIndex: 0 } } as const;
