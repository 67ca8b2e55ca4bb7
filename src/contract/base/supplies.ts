import type { Artifacts } from './artifacts.ts'
import type { Companions } from './companion.ts'
import type { Instructions } from './instructions.ts'
import type { Jobs } from './job.ts'
import type { Network, Pages } from './network.ts'
import type { Commands, Files, Search } from './sandbox.ts'

/**
 * What a tool may name in `needs` and then finds in its context. Extend it by declaration merging
 * for supplies that you hand to `createRuntime({ supplies })`.
 */
export interface Supplies {
  /** Files inside the call's roots. */
  files: Files
  /** Search inside the call's roots. */
  search: Search
  /** Programs that the call's profile allows. */
  commands: Commands
  /** Commands that outlast their call: those of the session. */
  jobs: Jobs
  /** Programs that tools of the session talk to from one call to the next. */
  companions: Companions
  /** Where files that tell how to work in a project are named. */
  instructions: Instructions
  /** What earlier calls of the same caller left as artifacts. */
  artifacts: Artifacts
  /** Servers that the call's profile covers. */
  network: Network
  /** Text of HTML pages. */
  pages: Pages
}

/** The supplies that every runtime has. What else there is, its host hands to it. */
export const ownSupplies = [
  'files',
  'search',
  'commands',
  'network',
  'pages',
  'jobs',
  'companions',
  'instructions',
  'artifacts',
] as const satisfies readonly (keyof Supplies)[]
