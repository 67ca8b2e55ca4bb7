import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { followPrograms } from './follow-programs.ts'
import type { Ask } from './launcher-words.ts'

const request = { executable: '/bin/true', argv: ['true'], cwd: '/proc/self/fd/7', env: {} }

/** Programs of a launcher of which only the line is there. */
function open() {
  const asked: Ask[] = []
  const busy: boolean[] = []
  const arrivals = new Map<string, (socket: Socket) => void>()
  const programs = followPrograms({
    ask: (word) => void asked.push(word),
    stream: (key) => new Promise((resolve) => arrivals.set(key, resolve)),
    onBusy: (each) => void busy.push(each),
  })
  const arrive = (key: string) => arrivals.get(key)?.(new Socket())
  return { programs, asked, busy, arrive }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('this process waits for the streams of a program that has ended already', async () => {
  const { programs, busy, arrive } = open()
  const start = programs.start(request)
  programs.take({ tell: 'started', id: 1, pid: 999_999_999, keys: ['a', 'b'] })
  programs.take({ tell: 'ended', id: 1, exitCode: 0, signal: null, cpuMs: 10 })
  await turn()
  expect(busy).toEqual([true])
  arrive('a')
  arrive('b')
  const { exited } = await start
  expect(await exited).toEqual({ exitCode: 0, signal: null, cpuMs: 10, lost: false })
  expect(busy).toEqual([true, false])
})

test('what this process holds is named so that another one finds it', async () => {
  const { programs, asked } = open()
  const start = programs.start({ ...request, descriptors: ['pipe', { file: '/proc/self/fd/8' }] })
  programs.take({ tell: 'failed', id: 1, code: 'ENOENT', message: 'spawn ENOENT' })
  await expect(start).rejects.toMatchObject({ code: 'ENOENT' })
  const own = `/proc/${process.pid}/fd`
  expect(asked).toMatchObject([
    { ask: 'start', request: { cwd: `${own}/7`, descriptors: ['pipe', { file: `${own}/8` }] } },
  ])
})

test('what waits for a launcher that is gone is told so', async () => {
  const { programs, busy } = open()
  const start = programs.start(request)
  programs.lose()
  await expect(start).rejects.toThrow(/has ended, and every program/)
  expect(busy).toEqual([true, false])
})
