/** The bodies and answers of wire/rerank.ts in the OpenAPI document. */

const object = (
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 && { required }),
});
const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', description });
const list = (items: object) => ({ type: 'array', items });
const word = (...words: readonly string[]) => ({ type: 'string', enum: words });

const DOCUMENT = {
  oneOf: [
    { type: 'string' },
    object({ text: { type: 'string' } }, ['text']),
    object({ itemId: text('of the catalogue, whose title is the text') }, ['itemId']),
  ],
};
const score = { type: 'number' };

export const RERANK_SCHEMAS = {
  RerankRequest: object(
    {
      model: text('without effect: there is one model'),
      query: text('not empty'),
      documents: list(DOCUMENT),
      top_n: count('documents of the answer at most'),
      return_documents: { type: 'boolean' },
      instruction: text("in place of the template's"),
      too_long: word('cut', 'refuse'),
      failures: word('each', 'whole'),
      priority: word('high', 'normal', 'low'),
      deadline_ms: count('milliseconds'),
      catalogue: text('of the items; empty: the first'),
    },
    ['query', 'documents'],
  ),
  RerankResponse: object({
    id: text('made for each call'),
    object: word('list'),
    model: text('template and digest of the weights'),
    usage: object({ total_tokens: count('of all prompts'), computed_tokens: count('of these') }),
    results: list(
      object({ index: count('in the request'), relevance_score: score, document: DOCUMENT }),
    ),
    failures: list(object({ index: count('in the request'), code: text(''), message: text('') })),
  }),
  TeiRerankRequest: object(
    {
      query: text('not empty'),
      texts: list({ type: 'string' }),
      truncate: { type: 'boolean' },
      return_text: { type: 'boolean' },
      raw_scores: { type: 'boolean', enum: [false] },
    },
    ['query', 'texts'],
  ),
  TeiRerankResponse: list(object({ index: count('in the request'), score, text: text('') })),
};

/** Routes with their request, answer and operation. */
const ROUTES = [
  ['/v1/rerank', 'RerankRequest', 'RerankResponse', 'rerank'],
  ['/v2/rerank', 'RerankRequest', 'RerankResponse', 'rerank-v2'],
  ['/rerank', 'TeiRerankRequest', 'TeiRerankResponse', 'rerank-tei'],
] as const;

export function rerankPaths(json: (schema: string) => object, failures: object): object {
  const summary = 'Scores texts for a query, best first';
  return Object.fromEntries(
    ROUTES.map(([path, request, response, operationId]) => [
      path,
      {
        post: {
          operationId,
          summary,
          requestBody: { required: true, content: json(request) },
          responses: { 200: { description: summary, content: json(response) }, ...failures },
        },
      },
    ]),
  );
}
