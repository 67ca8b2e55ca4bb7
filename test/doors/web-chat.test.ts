import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'

const server = join(packageRoot, 'examples', 'web-chat', 'server.ts')

interface Shown {
  texts: string[]
  requests: { approvalId: string; reason: string }[]
}

test('a chat over HTTP asks in the page, and goes on with its answer after the server was killed (PERM-3)', async () => {
  const place = makePlace()
  const start = async () => {
    const running = startProgram(place, [onBundle, server, place.user, '0'])
    await running.saw('/\n')
    const [address = ''] = /http:\S+/.exec(running.output.stdout) ?? []
    const talk = async (body?: object, key = 'key-of-bob'): Promise<Shown> => {
      const post = body && { method: 'POST', body: JSON.stringify(body) }
      const answer = await fetch(`${address}chat`, { headers: { authorization: `Bearer ${key}` }, ...post })
      return (await answer.json()) as Shown
    }
    const kill = async () => {
      running.child.kill('SIGKILL')
      await running.ended
    }
    return { address, talk, kill }
  }
  const first = await start()
  expect(await (await fetch(first.address)).text()).toContain('<title>Shop</title>')
  expect(await first.talk({ text: 'Pay it back.' }, 'key-of-eve')).toEqual({ error: 'Who are you?' })
  const { requests } = await first.talk({ text: 'Pay it back.' }, 'key-of-ann')
  expect(requests).toMatchObject([{ reason: expect.stringContaining('refund with this input (apr_') }])
  await first.kill()

  const second = await start()
  expect(await second.talk({ approvalId: 'made up', approved: true })).toMatchObject({ requests })
  const { approvalId } = requests[0] ?? {}
  const { texts, requests: left } = await second.talk({ approvalId, approved: true })
  expect(left).toEqual([])
  expect(texts.at(-1)).toContain('refunded')
  await second.kill()
})
