/** The pages of the navigation, by what they are for. */
export const VIEWS = [
  {
    group: 'Analyse',
    views: [
      ['/', 'Overview'],
      ['/composition', 'Composition'],
      ['/reach', 'Reach'],
      ['/versions', 'Versions'],
      ['/auction', 'Auction'],
      ['/outcomes', 'Outcomes'],
      ['/change', 'Change of a user'],
      ['/items', 'Items'],
      ['/ask', 'Ask'],
    ],
  },
  {
    group: 'Look into',
    views: [
      ['/recalls', 'Recalls'],
      ['/users', 'Users'],
      ['/try', 'Try'],
      ['/compare', 'Compare'],
      ['/relevance', 'Relevance'],
    ],
  },
  {
    group: 'Operate',
    views: [
      ['/live', 'Live'],
      ['/adapters', 'Adapters'],
      ['/catalogue', 'Catalogue'],
      ['/cluster', 'Cluster'],
    ],
  },
] as const;
