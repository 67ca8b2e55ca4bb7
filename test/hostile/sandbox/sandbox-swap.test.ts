import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, resultText } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { anyCommand, makeFolder, openRuntime } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

/** Puts a link in the place of a folder and the folder back, as fast as it goes, as another command of the same project could. */
const swapping = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const [folder, outside] = process.argv.slice(1)
for (;;) {
  renameSync(folder, folder + '.away')
  symlinkSync(outside, folder)
  unlinkSync(folder)
  renameSync(folder + '.away', folder)
}
`

const starts = rounds({ usual: 6, long: 150 })

function startSwapping(folder: string, outside: string): void {
  const child = spawn(process.execPath, ['-e', swapping, folder, outside], { stdio: 'ignore' })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
}

test.each([
  ['in force at once', 'never', ''],
  ['held back', 'always', ''],
  // A command that says this in an overlay runs again in a copy.
  ['held back in a copy', 'always', 'stat -f -c %T . | grep -q overlay && { echo EXDEV; exit 1; }; '],
] as const)(
  'no folder that is swapped while a sandbox is made leads a command outside: %s (FILE-9, FS-29)',
  async (_what, hold, first) => {
    const project = makeFolder({ 'a/.env': 'A=1', 'a/b/.env': 'B=1' })
    const outside = makeFolder()
    mkdirSync(join(outside, 'b'))
    writeFileSync(join(outside, 'plain'), 'OUT=1')
    writeFileSync(join(outside, '.env'), 'OUT=1')
    writeFileSync(join(outside, 'b', '.env'), 'OUT=1')
    for (const folder of [outside, join(outside, 'b')]) chmodSync(folder, 0o777)
    const runtime = await openRuntime({
      project,
      sandbox: { hold },
      tools: [codeTools()],
      policy: anyCommand,
    })
    const session = runtime.session()
    startSwapping(join(project, 'a'), outside)
    let ran = 0
    // On until some ran, so that the test has tried what it says.
    for (let n = 0; n < starts || ran === 0; n++) {
      const argv = [
        'sh',
        '-c',
        `${first}cat a/* a/b/*; echo ${n} >> a/probe; echo ${n} >> a/b/probe; cat a/.env a/b/.env`,
      ]
      const result = await session.call('code.run_command', { argv })
      expect(JSON.stringify(result)).not.toContain('OUT=1')
      if (result.error?.code !== 'SANDBOX.UNAVAILABLE' && !resultText(result).includes('EXDEV')) ran++
    }
    expect([existsSync(join(outside, 'probe')), existsSync(join(outside, 'b', 'probe'))]).toEqual([
      false,
      false,
    ])
  },
)
