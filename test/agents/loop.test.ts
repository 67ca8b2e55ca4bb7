import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelSaying, toldResults } from '../support/mock-model.ts'
import { personSaying } from '../support/project.ts'
import { eventsOf, openProject, read, write } from './open-project.ts'

test('a model is asked, its calls take the road, and it is asked again until it answers without one (AGENT-3)', async () => {
  const { project, runtime } = await openProject({ approve: personSaying('allow_once').approve })
  const { model, asked } = modelSaying([read, write, { text: 'Done: b.txt is there.' }])
  const run = await runtime.run({ model, prompt: 'Write b.txt.', wait: true })
  const events = await eventsOf(run)
  const result = await run.result
  expect(result).toMatchObject({
    id: run.id,
    endReason: 'completed',
    text: 'Done: b.txt is there.',
    turns: 3,
    usage: { inputTokens: 30, outputTokens: 15 },
    waiting: [],
  })
  expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('new')
  expect(toldResults(asked[1] ?? { prompt: [] })).toEqual([expect.stringContaining('alpha')])
  expect(events.map(({ type }) => type).filter((type) => type !== 'text')).toEqual(
    'run_started turn_started turn_ended call call_ended turn_started turn_ended call call_ended turn_started turn_ended run_ended'.split(
      ' ',
    ),
  )
  const said = events.flatMap((event) => (event.type === 'text' ? [event.delta] : []))
  expect(said).toEqual(['I ', 'look. ', 'Done: ', 'b.txt ', 'is ', 'there.'])
  const ids = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as { tool: string; toolCallId: string; origin: string; session: string },
  )
  expect(ids.map(({ tool }) => tool)).toEqual(['code.read_file', 'code.write_file'])
  expect(new Set(ids.map(({ toolCallId }) => toolCallId)).size).toBe(2)
  expect(ids.every(({ origin, session }) => origin === 'llm' && session === result.session)).toBe(true)
  expect(runtime.runs.transcript(run.id).map(({ type }) => type)).toEqual(
    'user assistant tool assistant tool assistant'.split(' '),
  )
})
