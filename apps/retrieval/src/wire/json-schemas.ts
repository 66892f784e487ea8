/** Schemas of JSON in the OpenAPI document, for bodies that no message describes. */

/** An object with no other members than these. */
export const objectSchema = (
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
) => Object.assign(openSchema(properties, required), { additionalProperties: false });

/** An object that may have other members too. */
export const openSchema = (
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
) => Object.assign({ type: 'object', properties }, required.length > 0 && { required });

interface Enumerated {
  readonly enum?: readonly unknown[];
}

/**
 * A body of other services' clients: further members are let by or refused by their names, and
 * null is an absent one.
 */
export function foreignSchema(
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
) {
  const orNull = (schema: object) => {
    if (!('type' in schema)) return schema;
    const { enum: words } = schema as Enumerated;
    const more = words === undefined ? {} : { enum: [...words, null] };
    return Object.assign({}, schema, { nullable: true }, more);
  };
  const entries = Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : orNull(schema),
  ]);
  return openSchema(Object.fromEntries(entries), required);
}

export const textSchema = (description: string) => ({ type: 'string', description });
export const countSchema = (description: string) => ({ type: 'integer', description });
export const listSchema = (items: object) => ({ type: 'array', items });
export const wordSchema = (...words: readonly string[]) => ({ type: 'string', enum: words });

/** A route whose body and answer have schemas of these names. */
export interface DescribedRoute {
  readonly path: string;
  readonly request: string;
  readonly response: string;
  readonly operationId: string;
  readonly summary: string;
}

/** @param json content of a schema's name */
export function postPaths(
  routes: readonly DescribedRoute[],
  json: (schema: string) => object,
  failures: object,
): object {
  return Object.fromEntries(
    routes.map(({ path, request, response, operationId, summary }) => {
      const answered = { 200: { description: summary, content: json(response) } };
      const requestBody = { required: true, content: json(request) };
      const responses = Object.assign(answered, failures);
      return [path, { post: { operationId, summary, requestBody, responses } }];
    }),
  );
}
