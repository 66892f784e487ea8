// The import law of the TypeScript side. Every rule is an error; tools/tidy.spec.ts shows that each
// can fail.

/** Districts of libs/, the highest first: each imports those below it alone. */
const districts = ['edge', 'insight', 'cluster', 'service', 'engine', 'ops'];
const districtRules = districts.slice(1).map((district, index) => ({
  name: `district-order-${district}`,
  severity: 'error',
  from: { path: `^libs/${district}/`, pathNot: '\\.spec\\.ts$' },
  to: { path: `^libs/(${districts.slice(0, index + 1).join('|')})/` },
}));

/** Which lib of `service` may see which other's face. */
const serviceOrder = {
  embedding: [],
  erasure: [],
  adapter: ['prompt'],
  catalogue: [],
  behaviour: [],
  'shared-kv': [],
  prompt: [],
  relevance: ['embedding', 'prompt'],
  recall: [
    'embedding',
    'erasure',
    'adapter',
    'catalogue',
    'behaviour',
    'shared-kv',
    'prompt',
    'relevance',
  ],
};
const serviceRules = Object.entries(serviceOrder)
  .filter(([, seen]) => seen.length < Object.keys(serviceOrder).length - 1)
  .map(([lib, seen]) => ({
    name: `service-order-${lib}`,
    severity: 'error',
    from: { path: `^libs/service/${lib}/src/`, pathNot: '\\.spec\\.ts$' },
    to: {
      path: '^libs/service/[^/]+/src/',
      pathNot: `^libs/service/(${[lib, ...seen].join('|')})/src/`,
    },
  }));
/** Libs that know nothing of how the service is reached. */
const domainPath = '^libs/(service/[^/]+|insight/inspection|cluster/routing)/src/';

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '\\.spec\\.ts$',
          '\\.mjs$',
          '\\.d\\.mts$',
          '^test/',
          '^libs/ops/contracts/',
          '^native/ts/abi\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'not-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'apps-import-modules-only-into-standalone',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/standalone/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'standalone-sees-faces-of-apps',
      severity: 'error',
      from: { path: '^apps/standalone/' },
      to: { path: '^apps/', pathNot: ['^apps/standalone/', '^apps/[^/]+/src/index\\.ts$'] },
    },
    {
      name: 'libs-never-import-apps-or-tools',
      severity: 'error',
      from: { path: '^(libs|native)/' },
      to: { path: '^(apps|tools|bench|examples|test)/' },
    },
    {
      name: 'examples-can-be-copied',
      comment: 'An example needs the faces of libs, and nothing of this repository beside.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(apps|tools|bench|test|native)/' },
    },
    {
      name: 'only-through-the-face',
      comment: 'A lib is imported through src/index.ts; siblings import files.',
      severity: 'error',
      from: {
        path: '^(?:libs/(engine|testing|[a-z]+/[a-z]+)/src|apps|tools|bench|examples|test)/',
      },
      to: {
        path: '^libs/(engine|testing|[a-z]+/[a-z]+)/src/',
        pathNot: ['^libs/(engine|testing|[a-z]+/[a-z]+)/src/index\\.ts$', '^libs/$1/src/'],
      },
    },
    {
      name: 'siblings-import-files',
      severity: 'error',
      from: { path: '^libs/(engine|testing|[a-z]+/[a-z]+)/src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/$1/src/index\\.ts$' },
    },
    {
      name: 'only-kafka-imports-kafkajs',
      comment: 'libs/ops/kafka gives it the codecs of the protocol before anything is read',
      severity: 'error',
      from: { path: '^(apps|libs|tools|examples)/', pathNot: '^libs/ops/kafka/' },
      to: { path: 'node_modules/kafkajs/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-engine-imports-native',
      severity: 'error',
      from: { pathNot: ['^libs/engine/', '^native/', '^test/', '^tools/abi/', '\\.spec\\.ts$'] },
      to: { path: '^native/' },
    },
    {
      name: 'lone-libs-import-nothing',
      severity: 'error',
      from: { path: '^libs/ops/(errors|contracts|turns|units)/src/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^libs/ops/(errors|contracts|turns|units)/src/' },
    },
    {
      name: 'domain-libs-see-no-infrastructure',
      severity: 'error',
      from: { path: domainPath, pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/ops/(config|kafka|lifecycle|telemetry)/' },
    },
    {
      name: 'domain-libs-see-types-of-contracts',
      comment: 'Shapes that are renamed nowhere are declared in proto alone (ADR 0100).',
      severity: 'error',
      from: { path: domainPath, pathNot: ['\\.spec\\.ts$', '/outside/'] },
      to: { path: '^libs/ops/contracts/', dependencyTypesNot: ['type-only'] },
    },
    ...districtRules,
    ...serviceRules,
    {
      name: 'edge-libs-never-import-the-domain',
      comment: 'Handlers of methods do; the libs that carry calls do not.',
      severity: 'error',
      from: {
        path: '^libs/edge/(access|admission|grpc|hosting|httpjson)/src/',
        pathNot: '\\.spec\\.ts$',
      },
      to: { path: '^libs/(service|insight|engine)/' },
    },
    {
      name: 'domain-is-pure',
      comment: 'domain/ has no Nest and no input or output; outside/ has.',
      severity: 'error',
      from: { path: '^libs/.*/src/domain/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: ['^node_modules/@nestjs/', '/outside/', '^(node:)?(fs|net|http|child_process)(/|$)'],
      },
    },
    {
      name: 'pages-see-types-alone',
      comment: 'What runs in a browser knows of the service what the API answers with.',
      severity: 'error',
      from: { path: '^apps/console/web/' },
      to: {
        path: '^(apps|libs|native)/',
        pathNot: '^apps/console/web/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { pathNot: ['^libs/testing/', '\\.spec\\.ts$', '^(test|bench)/'] },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'no-dev-dependencies-in-what-serves',
      severity: 'error',
      from: {
        path: '^(apps|libs|native/ts)/',
        pathNot: ['/fixture/', '\\.spec\\.ts$', '^libs/testing/', '^apps/console/web/'],
      },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist/', '^build/', '^test/clients/installed/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
