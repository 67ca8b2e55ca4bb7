import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram, type Place } from '../support/command-line.ts'
import { rounds } from '../support/rounds.ts'
import { messagesOf } from './open-team.ts'

const program = join(import.meta.dirname, 'killed-team.ts')
const kills = rounds({ usual: 2, long: 100 })

test(`of ${kills} teams killed at any time each message is read once, in order, and each member is started once (BI-2, AGENT-3)`, async () => {
  const place = makePlace()
  for (let round = 0; round < kills; round++) {
    const { child, output, ended } = start(place)
    const wanted = 1 + Math.floor(Math.random() * 30)
    await expect.poll(() => output.stdout.length, { interval: 2 }).toBeGreaterThan(wanted)
    await sleep(Math.random() * 10)
    child.kill('SIGKILL')
    expect((await ended).stderr).toBe('')
  }
  expect(await start(place, '1').ended).toMatchObject({ code: 0, stderr: '' })

  await using cleanup = new AsyncDisposableStack()
  const runtime = await createRuntime({
    project: place.project,
    store: { path: join(place.project, 'store.db') },
  })
  cleanup.defer(() => runtime.close())
  const all = runtime.runs.list({ limit: 10_000 }).map(({ id, endReason }) => ({
    endReason,
    nodes: runtime.runs.transcript(id),
  }))
  const isLead = ({ nodes: [first] }: (typeof all)[number]) =>
    first?.type === 'user' && first.text === 'Lead.'
  const textsOf = ({ nodes }: (typeof all)[number]) => messagesOf(nodes).map(({ text }) => text)
  const leads = all.filter(isLead)
  const members = all.filter((each) => !isLead(each))
  expect(leads.length).toBeGreaterThan(0)
  expect(members).toHaveLength(leads.length)
  for (const lead of leads) {
    expect(lead.endReason).toBe('completed')
    expect(textsOf(lead)).toEqual(['m1', 'm2', 'm3'])
    // What was made again after a kill says what it said.
    expect(JSON.stringify(lead.nodes)).not.toMatch(/team_exists|name_taken|outcome/)
  }
  for (const member of members) {
    expect(member.endReason).toBe('completed')
    expect(textsOf(member)).toEqual(['hello'])
  }
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
}, 900_000)

function start(place: Place, most = '1000') {
  return startProgram(place, [onBundle, program, place.project, most])
}
