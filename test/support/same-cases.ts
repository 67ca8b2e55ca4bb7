import fc from 'fast-check'
import { inject } from 'vitest'

/**
 * Properties meet the same cases each time in `npm test`, so that what a change broke is what fails. `npm run test:long` draws new ones.
 * Loaded before every test file.
 */
if (!inject('isLong')) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 })
