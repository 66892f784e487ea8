/** Schemas of fields that the schemas of the API are made of. */

export const text = (description: string) => ({ type: 'string', description });
export const integer = (description: string) => ({ type: 'integer', minimum: 1, description });
export const number = (description: string) => ({ type: 'number', description });
export const list = (items: object, description: string) => ({ type: 'array', items, description });
export const texts = (description: string) => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
});
export const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
});
