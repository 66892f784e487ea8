import { createHashRouter, Navigate, useLocation } from 'react-router';
import { Frame } from './frame/frame.js';
import { Broken, NotFound } from './frame/not-found.js';
import { Waiting } from './ui/states.js';

/** Each view is a file of its own, loaded when it is first shown. */
const view = (path: string, load: () => Promise<{ View: () => React.ReactNode }>) => ({
  path,
  lazy: async () => ({ Component: (await load()).View }),
  hydrateFallbackElement: <Waiting />,
});

/** The page of SQL had another address before. */
function ToAsk() {
  const { search } = useLocation();
  return <Navigate to={`/ask${search}`} replace />;
}

const VIEWS = [
  view('/', () => import('./analysis/overview.js')),
  view('/composition', () => import('./analysis/composition.js')),
  view('/reach', () => import('./analysis/reach.js')),
  view('/versions', () => import('./analysis/versions.js')),
  view('/auction', () => import('./analysis/auction.js')),
  view('/outcomes', () => import('./analysis/outcomes.js')),
  view('/change', () => import('./analysis/change.js')),
  view('/items', () => import('./analysis/items.js')),
  view('/items/:id', () => import('./analysis/ad.js')),
  view('/recalls', () => import('./recall/recalls.js')),
  view('/recalls/:id', () => import('./recall/recall.js')),
  view('/try', () => import('./recall/try.js')),
  view('/relevance', () => import('./relevance/relevance.js')),
  view('/compare', () => import('./compare/compare.js')),
  view('/compare/:id', () => import('./compare/comparison.js')),
  view('/live', () => import('./live/live.js')),
  view('/users', () => import('./users/users.js')),
  view('/users/:id', () => import('./users/users.js')),
  view('/adapters', () => import('./adapters/adapters.js')),
  view('/catalogue', () => import('./catalogue/catalogue.js')),
  view('/cluster', () => import('./cluster/cluster.js')),
  view('/ask', () => import('./ask/ask.js')),
  { path: '/sql', element: <ToAsk /> },
];

/** Addresses behind a #: any page can be linked to, whatever serves the files. */
export const router = createHashRouter([
  {
    element: <Frame />,
    errorElement: <Broken />,
    hydrateFallbackElement: <Waiting />,
    children: [
      { errorElement: <Broken />, children: [...VIEWS, { path: '*', element: <NotFound /> }] },
    ],
  },
]);
