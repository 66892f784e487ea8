// Rules of tools/tidy on docs/decisions, as pure functions: each decision says whether it holds, is
// listed, and is there where it is cited.
export const DECISIONS_MAX = 50;

const lineOf = (text, offset) => text.slice(0, offset).split('\n').length;
/** Breaches on purpose. */
const TESTS = ['tools/tidy.spec.ts'];
const DECISION = /^docs\/decisions\/(\d{4})-[^/]+\.md$/;
const STATUS = /^Status: (accepted|superseded by \d{4}|historical)$/m;

/** The page of a decision says whether the decision holds. */
export function decisionStatus(path, text) {
  if (!DECISION.test(path) || STATUS.test(text)) return [];
  return [{ line: 1, message: "no line 'Status: accepted | superseded by N | historical'" }];
}

/** Numbers of decisions that a text cites: `ADR 0002, 0004`, `decisions/0002`, or its successor. */
function citedDecisions(text) {
  const lists = text.matchAll(/\bADRs? (\d{4}(?:(?:, | and | to )(?:ADR )?\d{4})*)/g);
  const paths = text.matchAll(/\b(?:decisions|adr)\/(\d{4})/g);
  const successors = text.matchAll(/^Status: superseded by (\d{4})$/gm);
  return [...lists, ...paths, ...successors].flatMap((match) =>
    match[1].match(/\d{4}/g).map((number) => ({ number, line: lineOf(text, match.index) })),
  );
}

/** All texts by path: decisions that are cited and not there, or not in the index; too many. */
export function decisionFaults(texts) {
  const numbers = [...texts.keys()].flatMap((path) => DECISION.exec(path)?.[1] ?? []);
  const there = new Set(numbers);
  const dangling = [...texts].flatMap(([path, text]) =>
    TESTS.includes(path)
      ? []
      : citedDecisions(text)
          .filter(({ number }) => !there.has(number))
          .map(({ number, line }) => ({ path, line, message: `no decision ${number}` })),
  );
  const index = 'docs/decisions/README.md';
  const listed = texts.get(index) ?? '';
  const unlisted = numbers
    .filter((number) => !listed.includes(`[${number}](`))
    .map((number) => ({ path: index, line: 1, message: `decision ${number} is not listed` }));
  const many =
    numbers.length > DECISIONS_MAX
      ? [{ path: index, line: 1, message: `${numbers.length} decisions, at most ${DECISIONS_MAX}` }]
      : [];
  return [...dangling, ...unlisted, ...many];
}
