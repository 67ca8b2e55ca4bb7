import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { onBundle } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { makeFolder } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

const kills = rounds({ usual: 2, long: 150 })
const longestMs = 200

/** Of which the runner takes a part of the files while it is killed. */
const tree = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`tree/${index}`, 'x']))

test.each(['bubblewrap', 'host'])(
  `${kills} kills at random leave no process behind, and no temporary file for the next one, with the sandbox %s (FILE-7, CALL-3)`,
  { timeout: 600_000 + kills * 20_000 },
  async (kind) => {
    const place = { project: makeFolder(tree), temporary: makeFolder(), kind }
    for (let kill = 0; kill < kills; kill++) {
      await runAndDie(place, Math.random() * longestMs)
      await vi.waitFor(() => expect(findProcesses(place.project)).toEqual([]), {
        interval: 20,
      })
    }
    await runAndDie(place)
    expect(readdirSync(place.temporary)).toEqual([])
    expect(readdirSync(place.project).filter((name) => name.startsWith('.handrail-'))).toEqual([])
  },
)

async function runAndDie(
  { project, temporary, kind }: Record<'project' | 'temporary' | 'kind', string>,
  afterMs?: number,
): Promise<void> {
  const runner = join(import.meta.dirname, 'killed-runner.ts')
  const args = [project, kind, ...(afterMs === undefined ? [] : [String(afterMs)])]
  const child = spawn(process.execPath, [onBundle, runner, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  expect((await once(child, 'exit'))[1]).toBe(afterMs === undefined ? null : 'SIGKILL')
}
