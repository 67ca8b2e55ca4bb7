import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, defineTool, toolOutput } from 'handrail'
import { pruneEvidence, verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'

const day = 86_400_000

/** Everything in a folder, as if it was written then. */
function age(folder: string, at: number): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(folder, path), at / 1000, at / 1000)
}

/** How many runs there are, how many of them say that they ended, in their file and in their events, and how many calls they log. */
function written(folder: string) {
  const runs = existsSync(folder) ? readdirSync(folder) : []
  const linesOf = (...path: string[]): string[] => {
    const file = join(folder, ...path)
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  }
  return {
    runs: runs.length,
    ended: runs.filter((run) => linesOf(run, 'run.json').some((line) => line.includes('"ended_at"'))).length,
    told: runs.filter((run) => linesOf(run, 'events.jsonl').some((line) => line.includes('session_ended')))
      .length,
    logged: runs.flatMap((run) => linesOf(run, 'logs', 'tools.jsonl')).length,
  }
}

test('old artifacts and runs go with the inputs and results that were in them, and what something names stays (EVID-4, EVID-7)', async () => {
  const folder = makeFolder()
  let now = Date.now() - 10 * day
  const keep = defineTool({
    name: 'demo.keep',
    description: 'Keeps a text as an artifact.',
    permission: 'readonly',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    async run({ text }, { artifact }) {
      const kept = await artifact(text, { mimeType: 'text/plain' })
      return toolOutput({ summary: 'kept', artifacts: [kept] })
    },
  })
  const runtime = await createRuntime({
    project: folder,
    home: folder,
    store: { path: join(folder, 'store.db') },
    archive: { dir: folder },
    tools: [keep],
    now: () => now,
  })
  atEnd(() => runtime.close())
  const callIn = async (tenant: string, ...texts: string[]): Promise<string[]> => {
    const session = runtime.session({ tenant })
    const digests = []
    for (const text of texts) {
      const { artifacts } = await session.call('demo.keep', { text })
      digests.push(...artifacts.map(({ digest }) => digest))
    }
    await session.close()
    return digests
  }
  const [old = '', shared = ''] = await callIn('local', 'old', 'shared')
  const [theirs = ''] = await callIn('acme', 'theirs')
  // All that is written of the two runs is there before it is made old.
  await expect.poll(() => written(join(folder, 'runs'))).toEqual({ runs: 2, ended: 2, told: 2, logged: 3 })
  for (const part of ['artifacts', 'runs']) age(join(folder, part), now)
  now = Date.now()
  const [sharedAgain, fresh = ''] = await callIn('local', 'shared', 'new')
  expect(sharedAgain).toBe(shared)
  age(join(folder, 'artifacts'), now - 9 * day)

  const prune = (tenant?: string) =>
    pruneEvidence({
      store: runtime.store,
      before: now - day,
      at: now,
      actor: 'ann',
      artifacts: runtime.artifacts,
      archive: { dir: folder },
      ...(tenant !== undefined && { tenant }),
    })
  const there = async () => {
    const found = await Promise.all(
      [old, shared, theirs, fresh].map((digest) => runtime.artifacts.get(digest)),
    )
    return found.map((bytes) => bytes && Buffer.from(bytes).toString())
  }
  expect(await prune('local')).toEqual({
    bodies: new Map([['local', 4]]),
    artifacts: 1,
    runs: 1,
    conversations: 0,
  })
  expect(await there()).toEqual([undefined, 'shared', 'theirs', 'new'])
  expect(await prune()).toEqual({ bodies: new Map([['acme', 2]]), artifacts: 1, runs: 1, conversations: 0 })
  expect(await there()).toEqual([undefined, 'shared', undefined, 'new'])
  expect(await prune()).toEqual({ bodies: new Map(), artifacts: 0, runs: 0, conversations: 0 })
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})
