/**
 * Answers of each operation of the console. tools/console-answers.mjs makes schemas of it
 * (`npm run generate`), which the OpenAPI document shows and the integration tests hold answers to.
 */ /** By `METHOD path`, as in openapi.ts. Answers that are streamed have no schema. */ export { };

//# sourceMappingURL=answers.js.map