import { FLAG_LINES } from '@tessera/config';
import { runProcess } from '@tessera/lifecycle';
import { worldProgram } from './world-process.js';

const WORLD = '--world';
const USAGE = `usage: npm start -- [flags]
${FLAG_LINES}
  ${WORLD}                 simulated users and advertisers use the service (npm run world)
  --behaviours HOST:PORT  ask a feature process for behaviours (behaviours.remote)
Every key and its variable: docs/operate/configuration.md`;

// Modules take their time to load: a bad configuration is reported before.
runProcess(
  USAGE,
  async ({ config }, isJsonLog, own) => {
    const world = own.has(WORLD) ? worldProgram() : undefined;
    const { start } = await import('./start.js');
    await start(config, isJsonLog, world);
  },
  [WORLD],
);
