import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, type Session, type ToolResult } from 'handrail'
import { codeModeTools, composeTools, scheduleTools, skillTools, valueFrom } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { modelSaying } from '../support/mock-model.ts'
import { makeFolder } from '../support/project.ts'
import { load, openSkills } from './open-skills.ts'
import { createClock, linesIn, noteTool, openSchedules, schedule } from './schedule-doors.ts'
import { buildTool, happenedIn } from './schedule-work.ts'

const bounded = {
  'git/SKILL.md': '---\nname: git\ndescription: G.\nallowed-tools: Bash(git:*) cron.create\n---\nUse git.',
  'safe/SKILL.md': '---\nname: safe\ndescription: S.\ndisallowed-tools: Bash(git push:*)\n---\nNo push.',
}

async function openFollowed() {
  const { model, asked } = modelSaying([{ text: 'Done.' }])
  const { runtime, project } = await openSkills(
    { home: bounded },
    {
      tools: [codeTools(), skillTools(), scheduleTools(), codeModeTools()],
      agents: { model },
      now: createClock().now,
      policy: {
        rules: [
          { effect: 'allow', tools: ['cron.*'] },
          { effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] },
        ],
      },
    },
  )
  return { runtime, project, asked, session: runtime.session({ actor: 'ann' }) }
}

const every = { name: 'x', schedule: '* * * * *', time_zone: 'UTC' }
const command = (...argv: string[]) => ({ ...every, tool: 'code.run_command', input: { argv } })
const idOf = ({ data }: ToolResult) => (data as { schedule: { id: string } }).schedule.id
const create = (session: Session, input: object) => session.call('cron.create', input)

test('what a skill asks about or denies is not done unasked by a schedule of the session that follows it (BI-5, BI-7)', async () => {
  const { runtime, project, session } = await openFollowed()
  await load(session, 'git')
  const denied = { code: 'POLICY.DENY_TOOL', reason: 'rule_denied' }
  const touched = await create(session, command('touch', 'made'))
  expect(touched.error).toMatchObject({ ...denied, message: expect.stringContaining('a skill') })
  expect(runtime.schedules.list()).toEqual([])
  expect((await create(session, command('git', 'status'))).ok).toBe(true)
  await session.endSkills()
  await load(session, 'safe')
  expect((await create(session, command('git', 'push'))).error).toMatchObject(denied)
  const made = await create(session, command('touch', 'made'))
  await session.endSkills()
  expect(await runtime.schedules.run(idOf(made))).toMatchObject({ state: 'ok' })
  expect(existsSync(join(project, 'made'))).toBe(true)
})

test('neither an agent nor a program of a schedule has the tools that a skill of its author left in part (BI-5, BI-7)', async () => {
  const { runtime, project, session, asked } = await openFollowed()
  await load(session, 'safe')
  const code = 'return await tools.code__run_command({ argv: ["touch", "made"] })'
  const made = await create(session, { ...every, tool: 'code_mode.run', input: { code } })
  expect(made.error).toBeUndefined()
  const run = await runtime.schedules.run(idOf(made))
  expect(run).toMatchObject({
    state: 'failed',
    error: { message: expect.stringContaining('not in the set') },
  })
  expect(existsSync(join(project, 'made'))).toBe(false)
  const agent = await create(session, { ...every, prompt: 'Touch it.' })
  expect(await runtime.schedules.run(idOf(agent))).toMatchObject({ state: 'ok', summary: 'Done.' })
  const names = asked[0]?.tools?.map(({ name }) => name)
  expect(names).toContain('code__read_file')
  expect(names).not.toContain('code__run_command')
})

test('the run of a long tool ends when its job has, also if a person lets it through (BI-5, NEXT-2)', async () => {
  const works = makeFolder()
  const { runtime } = await openSchedules({
    tools: [buildTool(works), jobTools()],
    policy: { rules: [{ effect: 'allow', tools: ['cron.*'] }] },
    store: { path: join(makeFolder(), 'store.db') },
  })
  const made = await schedule(runtime.session({ actor: 'ann' }), { tool: 'demo.build', input: {} })
  const waiting = await runtime.schedules.run(made.id)
  expect(waiting.state).toBe('waiting')
  const [question] = runtime.approvals.list()
  await runtime.approvals.decide(question?.id ?? '', { decision: 'allow_once', by: 'ben' })
  const runner = runtime.schedules.start()
  await expect.poll(() => happenedIn(works)).toEqual(['start'])
  expect(runtime.schedules.runs(made.id)[0]?.state).toBe('running')
  writeFileSync(join(works, 'done'), '')
  await expect.poll(() => runtime.schedules.runs(made.id)[0]?.state).toBe('ok')
  expect(runtime.schedules.runs(made.id)[0]?.summary).not.toContain('job_')
  await runner.close()
  expect(happenedIn(works)).toEqual(['start'])
})

test('a job that survives is followed by the process that goes on with the run of a killed one (BI-5, NEXT-2)', async () => {
  const place = makePlace()
  const folder = place.project
  const program = join(import.meta.dirname, 'schedule-builder.ts')
  const killed = startProgram(place, [onBundle, program, folder])
  // Its call has ended by then: one that is cut off is not gone on with.
  await expect.poll(() => existsSync(join(folder, 'asked'))).toBe(true)
  killed.child.kill('SIGKILL')
  expect((await killed.ended).stderr).toBe('')
  const next = startProgram(place, [onBundle, program, folder, 'on'])
  writeFileSync(join(folder, 'done'), '')
  expect((await next.ended).stdout).toBe('ok ')
  expect(happenedIn(folder)).toEqual(['start'])
})

test('a scheduled program or composition calls the tools that its author had (BI-5, NEXT-1, NEXT-5)', async () => {
  const project = makeFolder()
  const note = noteTool(project)
  const twice = composeTools({
    name: 'demo.twice',
    description: 'Notes two lines.',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    parts: {
      one: { tool: note, input: { line: valueFrom('input', '/line') } },
      two: { tool: note, input: { line: 'two' } },
    },
  })
  const { runtime } = await openSchedules({ project, tools: [codeModeTools(), twice] })
  const session = runtime.session({ actor: 'ann' })
  const code = 'await tools.demo__note({ line: "by program" }); return 1'
  const program = await schedule(session, { tool: 'code_mode.run', input: { code } })
  expect(await runtime.schedules.run(program.id)).toMatchObject({ state: 'ok' })
  const composed = await schedule(session, { tool: 'demo.twice', input: { line: 'one' } })
  expect(await runtime.schedules.run(composed.id)).toMatchObject({ state: 'ok' })
  expect(linesIn(project)).toEqual(['by program', 'one', 'two'])
  const bound = await schedule(runtime.session({ actor: 'ben', disallowedTools: ['demo.note'] }), {
    tool: 'code_mode.run',
    input: { code },
  })
  expect(await runtime.schedules.run(bound.id)).toMatchObject({ state: 'failed' })
  expect(linesIn(project)).toHaveLength(3)
})
