import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SetupError } from '../contract/base/errors.ts'
import type { JsonSchema, SchemaChecker } from '../contract/base/schema.ts'
import { loadConfiguration, type LoadedConfiguration } from './load-configuration.ts'
import { watchConfiguration, type NewConfiguration } from './watch-configuration.ts'

/** Checks nothing but that a value is an object: what files may say is proved elsewhere. */
const checker: SchemaChecker = {
  check: (_: JsonSchema, value: unknown) =>
    typeof value === 'object' && value !== null && !('wrong' in value)
      ? { ok: true, value: value as never, repairs: [] }
      : {
          ok: false,
          issues: [{ pointer: '/wrong', code: 'unknown_field', message: 'There is no field "wrong".' }],
        },
  inspect: () => [],
  normalise: () => ({ schema: {}, full: false, issues: [] }),
}

type Seen = NewConfiguration | { issue: unknown }

/** A person's and a project's folder with these files, watched. */
function watch(
  files: Readonly<Record<string, string>> = {},
  apply: (version: NewConfiguration) => void = () => {},
  before: Partial<LoadedConfiguration> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-watch-'))
  const places = { home: join(folder, 'home'), project: join(folder, 'project') }
  for (const place of Object.values(places)) mkdirSync(place)
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  const seen: Seen[] = []
  const waiting: ((each: Seen) => void)[] = []
  const say = (each: Seen) => {
    const next = waiting.shift()
    if (next === undefined) seen.push(each)
    else next(each)
  }
  const watcher = watchConfiguration({
    places,
    checker,
    current: { ...loadConfiguration(places, checker), ...before },
    onChange(version) {
      apply(version)
      say(version)
    },
    onError: (issue) => say({ issue }),
  })
  onTestFinished(() => {
    void watcher.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    watcher,
    seen,
    policy: join(places.home, 'policy.json'),
    configuration: join(places.home, 'config.json'),
    project: join(places.project, 'handrail.json'),
    next: () =>
      new Promise<Seen>((resolve) => {
        const first = seen.shift()
        if (first === undefined) waiting.push(resolve)
        else resolve(first)
      }),
  }
}

const said = (each: Seen) => {
  if ('issue' in each) throw new Error(`An issue: ${String(each.issue)}`)
  return each
}
const issueOf = (each: Seen) => {
  if (!('issue' in each && each.issue instanceof SetupError)) throw new Error('There was no issue.')
  return each.issue
}

test('a file written in place is the new version', async () => {
  const { policy, next } = watch({ 'home/policy.json': '{"mode": "plan"}' })
  writeFileSync(policy, '{"mode": "accept-edits"}')
  expect(said(await next()).change.policy).toEqual({ mode: 'accept-edits' })
})

test('a file that takes the place of another in one step is the new version', async () => {
  const { policy, next } = watch({ 'home/policy.json': '{"mode": "plan"}' })
  for (const mode of ['default', 'plan'] as const) {
    writeFileSync(`${policy}.tmp`, JSON.stringify({ mode }))
    renameSync(`${policy}.tmp`, policy)
    expect(said(await next()).change.policy).toEqual({ mode })
  }
})

test('an editor that moves the old file away and writes another is followed', async () => {
  const { policy, next } = watch({ 'home/policy.json': '{"mode": "plan"}' })
  renameSync(policy, `${policy}~`)
  writeFileSync(policy, '{"mode": "default"}')
  expect(said(await next()).change.policy).toEqual({ mode: 'default' })
})

test('each of the three files is watched, and may come while it is watched', async () => {
  const { policy, configuration, project, next } = watch()
  writeFileSync(policy, '{"mode": "plan"}')
  expect(said(await next()).change.policy).toEqual({ mode: 'plan' })
  writeFileSync(configuration, '{"disallowedTools": ["a.b"]}')
  expect(said(await next()).change).toMatchObject({ disallowedTools: ['a.b'], policy: { mode: 'plan' } })
  writeFileSync(project, '{"rules": [{"effect": "deny", "tools": ["c.d"]}]}')
  expect(said(await next()).change.projectConfiguration).toEqual({
    rules: [{ effect: 'deny', tools: ['c.d'] }],
  })
})

test('what a file does not say any more goes back to its default', async () => {
  const { configuration, next } = watch({
    'home/config.json': '{"limits": {"callsPerSession": 5}, "allowedTools": ["a.b"]}',
  })
  writeFileSync(configuration, '{}')
  expect(said(await next()).change).toMatchObject({ limits: {}, allowedTools: [], sensitivePaths: [] })
})

test('fields that wait for the next start are named as long as they differ from the last', async () => {
  const { configuration, next } = watch({ 'home/config.json': '{"env": ["A"]}' })
  writeFileSync(configuration, '{"env": ["B"], "tmp": true, "allowedTools": ["a.b"]}')
  expect(said(await next()).waiting).toEqual(['env', 'tmp'])
  writeFileSync(configuration, '{"env": ["B"], "allowedTools": []}')
  expect(said(await next()).waiting).toEqual(['env'])
  writeFileSync(configuration, '{"env": ["A"]}')
  expect(said(await next()).waiting).toEqual([])
})

test('each version with an issue is said with its file and pointer, and the next good one counts', async () => {
  const { policy, seen, next } = watch({ 'home/policy.json': '{"mode": "plan"}' })
  writeFileSync(policy, '{"wrong": 1}')
  const issue = issueOf(await next())
  expect(issue.message).toContain('stays in force')
  expect(issue.issues).toMatchObject([{ pointer: `${policy}#/wrong` }])
  writeFileSync(policy, '{"wrong":  1}')
  expect(issueOf(await next()).message).toBe(issue.message)
  writeFileSync(policy, '{"mode": "default"}')
  expect(said(await next()).change.policy).toEqual({ mode: 'default' })
  expect(seen).toEqual([])
})

test('half a file is an issue, and going back to what is in force is said', async () => {
  const { policy, next } = watch({ 'home/policy.json': '{"mode": "plan"}' })
  writeFileSync(policy, '{"mode": "pl')
  expect(issueOf(await next()).issues).toMatchObject([{ code: 'invalid_json' }])
  writeFileSync(policy, '{"mode": "plan"}')
  expect(said(await next()).change.policy).toEqual({ mode: 'plan' })
})

test('a file that is gone denies no less: what it said stays in force', async () => {
  const { policy, next } = watch({ 'home/policy.json': '{"rules": [{"effect": "deny"}]}' })
  rmSync(policy)
  expect(issueOf(await next()).issues).toMatchObject([{ pointer: policy, code: 'missing' }])
  writeFileSync(policy, '{}')
  expect(said(await next()).change.policy).toEqual({})
})

test('a version that could not be taken over is an issue, and is tried again when it changes', async () => {
  let refuse = true
  const { policy, next } = watch({}, () => {
    if (refuse) throw new SetupError('invalid_options', 'There is no such folder.')
  })
  writeFileSync(policy, '{"mode": "plan"}')
  expect(issueOf(await next()).message).toBe('There is no such folder.')
  refuse = false
  writeFileSync(policy, '{"mode": "plan" }')
  expect(said(await next()).change.policy).toEqual({ mode: 'plan' })
})

test('a version that says the same is none', async () => {
  const one = watch({ 'home/policy.json': '{"mode": "plan"}' })
  const other = watch({ 'home/policy.json': '{"mode": "plan"}' })
  utimesSync(one.policy, 1, 1)
  writeFileSync(one.policy, '{ "mode": "plan" }')
  for (const mode of ['default', 'plan']) {
    writeFileSync(other.policy, JSON.stringify({ mode }))
    await other.next()
  }
  expect(one.seen).toEqual([])
})

test('a version from between the start and the watch is found', async () => {
  const { next } = watch({ 'home/policy.json': '{"mode": "plan"}' }, undefined, {
    policy: { mode: 'default' },
  })
  expect(said(await next()).change.policy).toEqual({ mode: 'plan' })
})

test('after it was closed nothing is said', async () => {
  const one = watch({ 'home/policy.json': '{}' })
  const other = watch({ 'home/policy.json': '{}' })
  await one.watcher.close()
  writeFileSync(one.policy, '{"mode": "plan"}')
  writeFileSync(other.policy, '{"mode": "plan"}')
  await other.next()
  writeFileSync(other.policy, '{"mode": "default"}')
  await other.next()
  expect(one.seen).toEqual([])
})
