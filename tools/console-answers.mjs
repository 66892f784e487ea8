// Schemas of the console's answers, from the types that its controllers and pages share.
import { createGenerator } from 'ts-json-schema-generator';

const TYPES = 'apps/console/src/answers.ts';
const TYPE = 'ConsoleAnswers';

const isNull = (schema) => schema.type === 'null';

/** Of a list of schemas one of which is null: the others, which may be null. */
function nullable(others) {
  if (others.length === 1 && others[0].type !== undefined) return { ...others[0], nullable: true };
  return { anyOf: others.map((schema) => ({ ...schema, nullable: true })) };
}

/** Of a tuple: a list of so many, each like any of the members. */
function untupled({ additionalItems: _, items, ...rest }) {
  const texts = new Set(items.map((item) => JSON.stringify(item)));
  const members = [...texts].map((text) => JSON.parse(text));
  return { ...rest, items: members.length === 1 ? members[0] : { anyOf: members } };
}

/**
 * JSON Schema of draft 7 in the words of OpenAPI 3.0, which has no `const`, no type `null` and no
 * tuples.
 */
export function toOpenApi(value) {
  if (Array.isArray(value)) return value.map(toOpenApi);
  if (typeof value !== 'object' || value === null) return value;
  const {
    const: only,
    anyOf,
    ...rest
  } = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toOpenApi(member)]));
  if (only !== undefined) return { ...rest, enum: [only] };
  if (anyOf !== undefined) {
    const others = anyOf.filter((schema) => !isNull(schema));
    return others.length < anyOf.length ? { ...rest, ...nullable(others) } : { ...rest, anyOf };
  }
  if (Array.isArray(rest.type)) {
    const types = rest.type.filter((type) => type !== 'null');
    const isNullable = types.length < rest.type.length;
    const schemas = types.map((type) => ({ ...rest, type }));
    if (isNullable) return nullable(schemas);
    return { anyOf: schemas };
  }
  return Array.isArray(rest.items) ? untupled(rest) : rest;
}

/** Path and lines of the module with a schema per answer. */
export function consoleAnswersModule() {
  const { properties } = createGenerator({
    path: TYPES,
    tsconfig: 'tsconfig.json',
    type: TYPE,
    skipTypeCheck: true,
    expose: 'none',
    topRef: false,
    jsDoc: 'none',
    additionalProperties: false,
  }).createSchema(TYPE);
  const schemas = JSON.stringify(toOpenApi(properties), undefined, 2);
  return {
    'apps/console/src/generated/answer-schemas.ts': [
      `// Generated from ${TYPES} by tools/generate.mjs. Do not edit.`,
      '',
      "import type { ConsoleAnswers } from '../answers.js';",
      '',
      '/** Schemas of OpenAPI 3.0 by `METHOD path`. */',
      `export const ANSWER_SCHEMAS: Readonly<Record<keyof ConsoleAnswers, object>> = ${schemas};`,
      '',
    ],
  };
}
