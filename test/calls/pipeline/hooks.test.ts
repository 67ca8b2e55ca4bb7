import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool } from 'handrail'
import type { CommandHook, Hook, PreToolUseAnswer } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const write = { path: 'a.txt', content: 'a' }

test('hooks come before the person, the person before the tool (HOOK-1)', async () => {
  const order: string[] = []
  const tool = defineTool({ name: 'demo.do', description: 'Does.', run: () => void order.push('tool') })
  const runtime = await openRuntime({
    tools: [tool],
    hooks: [
      { name: 'before', before: () => (order.push('hook'), { decision: 'allow', notes: ['seen'] }) },
      { name: 'after', after: () => void order.push('after') },
    ],
    approve: async (request) => {
      order.push(`person (${request.hookNotes.join()})`)
      return { decision: 'allow_once' }
    },
  })
  await runtime.session().call('demo.do')
  expect(order).toEqual(['hook', 'person (seen)', 'tool', 'after'])
})

test('a hook that denies spares the person the question (HOOK-2)', async () => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    tools: [codeTools()],
    approve: person.approve,
    hooks: [{ name: 'guard', tags: ['write'], before: () => ({ decision: 'deny', reason: 'freeze' }) }],
  })
  const result = await runtime.session().call('code.write_file', write)
  expect(result.error).toMatchObject({ code: 'POLICY.HOOK_DENIED', reason: 'hook_denied' })
  expect(result.error?.message).toContain('freeze')
  expect(person.asked).toEqual([])
})

test('a hook cannot allow what a rule denies or a person was not asked (HOOK-2)', async () => {
  const runtime = await openRuntime({
    tools: [codeTools()],
    policy: { rules: [{ effect: 'deny', tools: ['code.glob'] }] },
    hooks: [{ name: 'kind', before: () => ({ decision: 'allow' }) }],
  })
  const session = runtime.session()
  expect((await session.call('code.glob', { pattern: '*' })).error?.reason).toBe('rule_denied')
  expect((await session.call('code.write_file', write)).error?.reason).toBe('no_callback')
})

test.each<[string, Hook['name'], () => unknown]>([
  [
    'throws',
    'h',
    () => {
      throw new Error('boom')
    },
  ],
  ['never answers', 'h', () => new Promise(() => {})],
  ['answers nothing', 'h', () => undefined],
  ['answers true', 'h', () => true],
  ['answers an unknown decision', 'h', () => ({ decision: 'approve' })],
])('a hook that %s denies (HOOK-2)', async (_, name, before) => {
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a' }),
    tools: [codeTools()],
    hooks: [{ name, timeoutMs: 50, before: before as () => PreToolUseAnswer }],
  })
  const result = await runtime.session().call('code.read_file', { path: 'a.txt' })
  expect(result.error).toMatchObject({ code: 'POLICY.HOOK_DENIED', reason: 'hook_failed' })
})

test('a hook cannot change the input (HOOK-2)', async () => {
  const project = makeFolder({ 'a.txt': 'a', 'b.txt': 'b' })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    hooks: [{ name: 'sly', before: (event) => ((event.input['path'] = 'b.txt'), { decision: 'allow' }) }],
  })
  const result = await runtime.session().call('code.read_file', { path: 'a.txt' })
  expect(result.data).toMatchObject({ content: 'a' })
})

test('hooks match whole names and tags, never a part of a name (HOOK-3)', async () => {
  const seen: string[] = []
  const note = (name: string): Hook => ({
    name,
    tools: [name],
    before: (event) => (seen.push(`${name}: ${event.tool}`), { decision: 'allow' }),
  })
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': '' }),
    tools: [codeTools()],
    hooks: [note('code.read'), note('code.read_file'), note('code.*'), note('*file')],
  })
  await runtime.session().call('code.read_file', { path: 'a.txt' })
  expect(seen).toEqual(['code.read_file: code.read_file', 'code.*: code.read_file', '*file: code.read_file'])
})

test('a PostToolUse hook that fails changes no result and is logged (HOOK-3)', async () => {
  const issues: string[] = []
  const tool = defineTool({
    name: 'demo.read',
    description: 'Reads.',
    permission: 'readonly',
    run: () => 'read',
  })
  const runtime = await openRuntime({
    tools: [tool],
    hooks: [{ name: 'broken', after: () => Promise.reject(new Error('disk full')) }],
    onError: (issue) => issues.push(String(issue.cause)),
  })
  expect((await runtime.session().call('demo.read')).data).toBe('read')
  expect(issues.join()).toContain('broken')
})

/** A program that is a hook: what it prints, how it ends. */
function programHook(folder: string, script: string, more: Partial<CommandHook> = {}): CommandHook {
  return { on: 'PreToolUse', command: [process.execPath, '-e', script], timeoutMs: 5_000, ...more }
}

const readEvent = `let s='';process.stdin.on('data',(d)=>s+=d).on('end',()=>{const e=JSON.parse(s);`

test('a command hook reads the event as JSON on stdin and answers as JSON on stdout (HOOK-3)', async () => {
  const project = makeFolder({ 'a.txt': 'a', 'secret.txt': 's' })
  const script = `${readEvent}console.log(JSON.stringify(e.tool_input.path==='secret.txt'?{decision:'deny',reason:e.hook_event_name+' '+e.tool_name}:{decision:'allow',notes:['fine']}))})`
  const runtime = await openRuntime({ project, tools: [codeTools()], hooks: [programHook(project, script)] })
  const session = runtime.session()
  expect((await session.call('code.read_file', { path: 'a.txt' })).ok).toBe(true)
  const denied = await session.call('code.read_file', { path: 'secret.txt' })
  expect(denied.error).toMatchObject({ reason: 'hook_denied' })
  expect(denied.error?.message).toContain('PreToolUse code.read_file')
})

test.each([
  ['ends with exit code 2', 'process.exit(2)', {}],
  ['ends with exit code 1 after an allow', `console.log('{"decision":"allow"}'); process.exitCode = 1`, {}],
  ['prints no JSON', `console.log('allow')`, {}],
  ['prints nothing', '', {}],
  ['prints an object without decision', `console.log('{"ok":true}')`, {}],
  ['does not end in time', 'setTimeout(() => {}, 60_000)', { timeoutMs: 300 }],
])('a command hook that %s denies (HOOK-3)', async (_, script, more) => {
  const project = makeFolder({ 'a.txt': 'a' })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    hooks: [programHook(project, script, more)],
  })
  expect((await runtime.session().call('code.read_file', { path: 'a.txt' })).error).toMatchObject({
    code: 'POLICY.HOOK_DENIED',
    reason: 'hook_failed',
  })
})

test('a command hook whose program is not there denies (HOOK-3)', async () => {
  const project = makeFolder({ 'a.txt': 'a' })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    hooks: [{ on: 'PreToolUse', command: ['/no/such/program'] }],
  })
  expect((await runtime.session().call('code.read_file', { path: 'a.txt' })).error?.reason).toBe(
    'hook_failed',
  )
})

test('a PostToolUse command hook sees the result (HOOK-3)', async () => {
  const project = makeFolder({ 'a.txt': 'a' })
  const script = `${readEvent}require('fs').writeFileSync('seen.json', JSON.stringify(e.tool_result))})`
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    hooks: [programHook(project, script, { on: 'PostToolUse' })],
  })
  await runtime.session().call('code.read_file', { path: 'a.txt' })
  expect(existsSync(join(project, 'seen.json'))).toBe(true)
  expect(JSON.parse(readFileSync(join(project, 'seen.json'), 'utf8'))).toMatchObject({
    ok: true,
    outcome: 'ok',
  })
})
