// The promises of an OpenAPI document that a later one breaks: what a client of the first relies
// on. A request may say less or the same, an answer has the same or more.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const jsonOf = (content) => content?.content?.['application/json']?.schema;

/** Follows references, and the one member of allOf that a description stands beside. */
function resolved(document, schema = {}) {
  if (schema.$ref !== undefined) {
    return resolved(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  }
  return schema.allOf?.length === 1 ? resolved(document, schema.allOf[0]) : schema;
}

/** Words of answers to members that clients of the release do not send. */
const ASKED_FOR = { 'post /v1/explain 200.verdict': ['no-value', 'below-floor', 'behind-ranked'] };

class Comparison {
  broken = [];
  seen = new Set();

  constructor(before, after) {
    this.before = before;
    this.after = after;
  }

  /** @param isAnswer false: clients send it */
  schema(path, given, now, isAnswer) {
    if (given === undefined) return;
    const names = [given.$ref, now?.$ref, isAnswer].join(' ');
    if (given.$ref !== undefined) {
      if (this.seen.has(names)) return;
      this.seen.add(names);
    }
    const [old, fresh] = [resolved(this.before, given), resolved(this.after, now)];
    this.kinds(path, old, fresh);
    this.words(path, old, fresh, isAnswer);
    this.members(path, old, fresh, isAnswer);
    if (old.items) this.schema(`${path}[]`, old.items, fresh.items ?? {}, isAnswer);
    if (typeof old.additionalProperties === 'object') {
      const values = fresh.additionalProperties ?? {};
      this.schema(`${path}{}`, old.additionalProperties, values, isAnswer);
    }
    for (const [at, one] of (old.oneOf ?? []).entries()) {
      this.schema(`${path}|${at}`, one, fresh.oneOf?.[at], isAnswer);
    }
  }

  kinds(path, old, fresh) {
    if (old.type !== fresh.type) this.note(path, `type ${old.type}`, fresh.type);
  }

  /** A client sends all of the old words, and knows no new one of an answer. */
  words(path, old, fresh, isAnswer) {
    const [known, wanted] = isAnswer ? [old.enum, fresh.enum] : [fresh.enum, old.enum];
    if (known === undefined) return;
    const strange = (wanted ?? ['any']).filter(
      (word) => !known.includes(word) && !ASKED_FOR[path]?.includes(word),
    );
    // Clients treat an unknown code by its status.
    if (strange.length === 0 || path.endsWith('.error.code')) return;
    this.note(path, `words ${old.enum ?? 'any'}`, fresh.enum ?? 'any');
  }

  members(path, old, fresh, isAnswer) {
    for (const [name, given] of Object.entries(old.properties ?? {})) {
      const now = fresh.properties?.[name];
      if (now === undefined) this.note(`${path}.${name}`, 'a member', 'none');
      else this.schema(`${path}.${name}`, given, now, isAnswer);
    }
    const [must, may] = isAnswer ? [old.required, fresh.required] : [fresh.required, old.required];
    for (const name of must ?? []) {
      if (may?.includes(name)) continue;
      const words = ['always there', 'sometimes'];
      const [expected, got] = isAnswer ? words : ['optional', 'required'];
      this.note(`${path}.${name}`, expected, got);
    }
  }

  operation(name, old, fresh) {
    if (fresh === undefined) {
      this.note(name, 'an operation', 'none');
      return;
    }
    if (old.operationId !== fresh.operationId) {
      this.note(name, `operationId ${old.operationId}`, fresh.operationId);
    }
    this.schema(`${name} takes`, jsonOf(old.requestBody), jsonOf(fresh.requestBody), false);
    for (const [status, answer] of Object.entries(old.responses)) {
      const now = fresh.responses[status];
      if (now === undefined) this.note(`${name} ${status}`, 'an answer', 'none');
      else this.schema(`${name} ${status}`, jsonOf(answer), jsonOf(now), true);
    }
  }

  note(path, expected, got) {
    this.broken.push(`${path}: expected ${expected} as released, got ${got}`);
  }
}

/** @returns a sentence for each */
export function brokenPromises(before, after) {
  const comparison = new Comparison(before, after);
  for (const [path, item] of Object.entries(before.paths)) {
    for (const method of METHODS) {
      if (item[method] === undefined) continue;
      comparison.operation(`${method} ${path}`, item[method], after.paths[path]?.[method]);
    }
  }
  return comparison.broken;
}
