import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { modelSaying } from '../support/mock-model.ts'
import { rounds } from '../support/rounds.ts'

const program = join(import.meta.dirname, 'memory-runner.ts')
const kills = rounds({ usual: 2, long: 100 })
const runs = kills + 4

test(`of ${kills} pairs of processes that extract facts and are killed at any time, no fact is lost and none is there twice (BI-8)`, async () => {
  const place = makePlace()
  const store = { path: join(place.project, 'store.db') }
  const runtime = await createRuntime({ project: place.project, store })
  for (let count = 0; count < runs; count++) {
    const run = await runtime.run({
      model: modelSaying([{ text: 'Yes.' }]).model,
      prompt: `fact number ${count}`,
    })
    await run.result
  }
  await runtime.close()
  const start = () => startProgram(place, [onBundle, program, place.project])
  for (let round = 0; round < kills; round++) {
    const pair = [start(), start()]
    const said = () => pair.reduce((sum, { output }) => sum + output.stdout.length, 0)
    const isOver = () => pair.every(({ child }) => child.exitCode !== null)
    await expect.poll(() => said() > 0 || isOver(), { interval: 2 }).toBe(true)
    await sleep(Math.random() * 15)
    for (const { child } of pair) child.kill('SIGKILL')
    for (const { ended } of pair) expect((await ended).stderr).toBe('')
  }
  expect(await start().ended).toMatchObject({ code: 0, stderr: '' })
  const memory = join(place.project, 'memory')
  const facts = readdirSync(memory)
    .filter((name) => name.endsWith('.md'))
    .map((name) => /Fact \d+ holds/.exec(readFileSync(join(memory, name), 'utf8'))?.[0] ?? name)
  const wanted = Array.from({ length: runs }, (_, count) => `Fact ${count} holds`)
  expect(facts.toSorted()).toEqual(wanted.toSorted())
}, 900_000)
