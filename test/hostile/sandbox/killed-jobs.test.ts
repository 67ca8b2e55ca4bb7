import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { onBundle } from '../../support/command-line.ts'
import { findProcesses } from '../../support/processes.ts'
import { makeFolder } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'

const kills = rounds({ usual: 2, long: 50 })
const longestMs = 1_000

test(
  `${kills} kills while a job writes leave no protected name in force, at no moment, and nothing of its layer (FS-49)`,
  {
    timeout: 600_000 + kills * 20_000,
  },
  async () => {
    const place = { project: makeFolder(), temporary: makeFolder() }
    const seen: string[] = []
    const watcher = watch(place.project, (_event, name) => void seen.push(String(name)))
    atEnd(() => watcher.close())
    // On a busy machine, until what was quiet landed before one of them.
    const hasLanded = () => readdirSync(place.project).includes('out')
    for (let kill = 0; kill < kills || !hasLanded(); kill++) {
      await runAndDie(place, 400 + Math.random() * longestMs)
      await vi.waitFor(() => expect(findProcesses(place.project)).toEqual([]), {
        interval: 20,
      })
    }
    await runAndDie(place)
    const names = readdirSync(place.project)
    expect(readdirSync(place.temporary)).toEqual([])
    expect(names.filter((name) => name.startsWith('.'))).toEqual([])
    expect(seen.filter((name) => /^\.(?!handrail-)/.test(name))).toEqual([])
  },
)

async function runAndDie(
  { project, temporary }: Record<'project' | 'temporary', string>,
  afterMs?: number,
): Promise<void> {
  const runner = join(import.meta.dirname, 'killed-job-runner.ts')
  const args = [project, ...(afterMs === undefined ? [] : [String(afterMs)])]
  const child = spawn(process.execPath, [onBundle, runner, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  expect((await once(child, 'exit'))[1]).toBe(afterMs === undefined ? null : 'SIGKILL')
}
