import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { handrail, makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'
import { imageOf } from '../support/undo.ts'

const worker = join(import.meta.dirname, 'undo-worker.ts')
const kills = rounds({ usual: 2, long: 100 })
const atOnce = 4

test(`what a process did until it was killed, ${kills} times, is taken back to the first byte by the next one (EVID-1)`, async () => {
  let undone = 0
  for (let round = 0; round < kills; round += atOnce) {
    const ended = await Promise.all(Array.from({ length: atOnce }, workAndDie))
    undone += ended.filter((isUndone) => isUndone).length
  }
  expect(undone).toBeGreaterThan(kills / 5)
})

/** Whether there was something to take back. */
async function workAndDie(): Promise<boolean> {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d/${index}.txt`, `${index}`]))
  const place = makePlace({ 'a.txt': 'old\n', ...files }, { 'config.json': { sandbox: 'host' } })
  symlinkSync('0.txt', join(place.project, 'd/link'))
  const before = imageOf(place.project)
  const child = startProgram(place, [onBundle, worker, place.project, place.home])
  const calls = 1 + Math.floor(Math.random() * 12)
  await expect.poll(() => child.output.stdout.length, { interval: 5 }).toBeGreaterThanOrEqual(calls)
  await sleep(Math.random() * 15)
  child.child.kill('SIGKILL')
  expect((await child.ended).stderr).toBe('')
  const { code, stderr } = await handrail(place, ['undo', '--since', '1h', '--yes'])
  if (code !== 0) expect(stderr).toMatch(/nothing_to_undo|no such call/)
  expect(imageOf(place.project), stderr).toEqual(before)
  return code === 0
}
