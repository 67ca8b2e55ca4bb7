import { expect, test } from 'vitest'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { noChallenge } from './challenge.ts'
import { LoginNeeded } from './login-needed.ts'
import { isAnswer, isUnknownSession, toTaskFailure } from './to-call-failure.ts'

const about = { server: 'it', tool: 'mcp.it.act' }

test.each([
  new LoginNeeded('It needs a login.', noChallenge),
  Object.assign(new Error('gone'), { status: 404 }),
  Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' }),
])('a task whose result is not to be had says that nobody knows whether it was done: %s (MCP-1)', (error) => {
  const failure = toTaskFailure(error, about)
  expect(failure).toBeInstanceOf(ToolFailure)
  expect(failure).toMatchObject({
    reason: 'connection_lost',
    message: expect.stringContaining('not known') as string,
  })
  expect(isUnknownSession(failure)).toBe(false)
})

test('what a server answers of a task stays its answer (MCP-1)', () => {
  const error = Object.assign(new Error('no such task'), { code: -32_602 })
  expect(toTaskFailure(error, about)).toBe(error)
})

test('a server that wants a login answers, so that its connection and the calls on it go on (MCP-1)', () => {
  expect(isAnswer(new LoginNeeded('It needs a login.', noChallenge))).toBe(true)
  expect(isAnswer(Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' }))).toBe(false)
})
