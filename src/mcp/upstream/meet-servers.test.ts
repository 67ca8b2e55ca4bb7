import { expect, test } from 'vitest'
import type { Upstream } from './base/upstream.ts'
import { createMeetings } from './meet-servers.ts'

test('all servers that wait are met before that has ended, also if many fail at once', async () => {
  const met: number[] = []
  const meetings = createMeetings()
  for (let server = 0; server < 20; server++) {
    const refresh = async (): Promise<void> => {
      met.push(server)
      throw new Error('It is down.')
    }
    meetings.add({ upstream: { refresh } as unknown as Upstream })
  }
  meetings.start()
  await meetings.ended()
  expect(met).toHaveLength(20)
})
