import { execFile } from 'node:child_process'
import { chmodSync, chownSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeFolder } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

const top = join(import.meta.dirname, '../../..')
const configuration = join(top, 'test/support/as-user.vitest.config.ts')

/** The whole suite of layers in `npm run test:long`; in `npm test` what lands of them. */
const folder = 'src/sandboxes/layers'
const files =
  rounds({ usual: 1, long: 0 }) === 1
    ? ['--testNamePattern', 'lands as if it had run', `${folder}/layer.test.ts`]
    : [folder]

test.runIf(process.getuid?.() === 0)(
  'layers keep their contract in a process of an ordinary user (FS-43, FS-49)',
  async () => {
    const temporary = makeFolder()
    chmodSync(temporary, 0o755)
    chownSync(temporary, 4_242, 4_242)
    const report = join(temporary, 'report.json')
    const argv = [
      '--reuid=4242',
      '--regid=4242',
      '--clear-groups',
      process.execPath,
      join(top, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      configuration,
      // Does not write what it makes of the configuration beside it.
      '--configLoader=runner',
      '--root',
      top,
      '--reporter=json',
      `--outputFile=${report}`,
      ...files,
    ]
    const env = { PATH: process.env['PATH'], HOME: temporary, TMPDIR: temporary }
    // It ends with 1 if a test failed. Then the report says which.
    await promisify(execFile)('setpriv', argv, { cwd: top, env }).catch(() => {})
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
    }
    const all = testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(all.filter(({ status }) => status === 'failed')).toEqual([])
    expect(all.filter(({ status }) => status === 'passed').length).toBeGreaterThanOrEqual(26)
  },
)
