import { createRequire } from 'node:module';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { PAGE_HEADERS } from '../../console/src/index.js';
import { openApiDocument } from './openapi.js';

const PAGE = '/docs';
const DOCUMENT = '/docs-json';

/** Folder of Swagger UI's files, without the scripts themselves: they run in browsers. */
const swaggerUiFolder: () => string = createRequire(import.meta.url)(
  'swagger-ui-dist/absolute-path.js',
);

/** In place of the initializer of the same name that Swagger UI comes with. */
const INITIALIZER = `SwaggerUIBundle({ url: '..${DOCUMENT}', dom_id: '#swagger-ui' });
`;

/** The OpenAPI page at /docs and the document itself at /docs-json. */
export async function serveDocs(instance: FastifyInstance, version: string): Promise<void> {
  const document = JSON.stringify(openApiDocument(version));
  instance.get(DOCUMENT, (_request, reply) =>
    reply.headers(PAGE_HEADERS).type('application/json').send(document),
  );
  instance.get(`${PAGE}/swagger-initializer.js`, (_request, reply) =>
    reply.headers(PAGE_HEADERS).type('text/javascript').send(INITIALIZER),
  );
  instance.get(PAGE, (_request, reply) => reply.headers(PAGE_HEADERS).redirect(`${PAGE}/`));
  await instance.register(fastifyStatic, {
    root: swaggerUiFolder(),
    prefix: `${PAGE}/`,
    decorateReply: false,
    setHeaders: (reply) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.header(name, value);
    },
  });
}
