import { join } from 'node:path'
import { createRuntime, SetupError, type Runtime } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { gatedTool } from '../support/gated-tool.ts'
import { makeTool } from '../support/make-tool.ts'
import { modelSaying } from '../support/mock-model.ts'
import { openProject, write } from './open-project.ts'

async function openOn({ project }: Place, tools: Parameters<typeof createRuntime>[0] = {}): Promise<Runtime> {
  const store = { path: join(project, 'store.db') }
  const runtime = await createRuntime({ project, home: project, store, ...tools })
  atEnd(() => runtime.close())
  return runtime
}

test('of two processes that go on with one run, one does, and the other is refused (AGENT-3)', async () => {
  const place = makePlace()
  const runtime = await openOn(place)
  const { model } = modelSaying([{ text: 'Done.' }])
  const { id } = await (await runtime.run({ model, prompt: 'Go.' })).result
  const program = join(import.meta.dirname, 'resuming-agent.ts')
  const both = await Promise.all(
    [1, 2].map(async () => {
      const running = startProgram(place, [onBundle, program, place.project, id])
      await running.saw('ready')
      return running
    }),
  )
  for (const { child } of both) child.stdin.end('go')
  const said = await Promise.all(
    both.map((each) =>
      each.saw('took').then(
        () => 'took',
        () => 'refused',
      ),
    ),
  )
  expect(said.toSorted()).toEqual(['refused', 'took'])
  for (const [index, { child, ended }] of both.entries())
    if (said[index] === 'took') child.kill('SIGKILL')
    else expect(await ended).toMatchObject({ stdout: expect.stringContaining('run_in_progress') as string })
})

test('a run that goes on is refused in its process and on its store, and goes on after its process was closed (AGENT-3)', async () => {
  const place = makePlace()
  const gate = gatedTool({ onAbort: () => 'stopped' })
  const [one, other] = [await openOn(place, { tools: [gate.tool] }), await openOn(place)]
  const { model } = modelSaying([{ calls: [{ tool: 't__gated', input: { id: '1' } }] }, { text: 'Done.' }])
  const run = await one.run({ model, prompt: 'Go.' })
  await gate.started('1')
  for (const runtime of [one, other])
    await expect(runtime.run({ model, resume: run.id })).rejects.toMatchObject({ code: 'run_in_progress' })
  expect(other.runs.find(run.id)).toMatchObject({ state: 'running' })
  await one.close()
  expect(await run.result).toMatchObject({ endReason: 'aborted_tools' })
  await expect(one.run({ model, prompt: 'Go.' })).rejects.toThrow(SetupError)
  expect(await (await other.run({ model, resume: run.id })).result).toMatchObject({ endReason: 'completed' })
})

test('two that take one run in one process: one goes on, the other is refused (AGENT-3)', async () => {
  const { runtime } = await openProject()
  const { model } = modelSaying([write, { text: 'Done.' }])
  const { id, waiting } = await (await runtime.run({ model, prompt: 'Write.' })).result
  await runtime.approvals.decide(waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const both = await Promise.allSettled([1, 2].map(() => runtime.run({ model, resume: id })))
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const refused = both.find(({ status }) => status === 'rejected')
  expect(refused).toMatchObject({ reason: { code: 'run_in_progress' } })
  for (const each of both)
    if (each.status === 'fulfilled')
      expect(await each.value.result).toMatchObject({ endReason: 'completed', turns: 2 })
})

test('another process decides, and a run with wait goes on (AGENT-3, PERM-3)', async () => {
  const place = makePlace()
  const [one, other] = [
    await openOn(place, { tools: [makeTool('demo.write', { permission: 'write' })] }),
    await openOn(place),
  ]
  const { model } = modelSaying([{ calls: [{ tool: 'demo__write' }] }, { text: 'Done.' }])
  const run = await one.run({ model, prompt: 'Write.', wait: true })
  await expect.poll(() => other.approvals.list().length).toBe(1)
  await other.approvals.decide(other.approvals.list()[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  expect(await run.result).toMatchObject({ endReason: 'completed', turns: 2 })
})
