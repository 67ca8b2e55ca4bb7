import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'
import { createSkillRegistry } from 'handrail/agents'
import { skillTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { anyCommand, makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { commit, decided, load, openSkills, others } from './open-skills.ts'

const git = {
  rules: [
    { id: 'git', effect: 'allow' as const, tools: ['code.run_command'], commands: ['git *', 'ls'] },
    { id: 'no-push', effect: 'deny' as const, tools: ['code.run_command'], commands: ['git push *'] },
  ],
}

const effectOf = (said: string) => said.split(' ')[0]
const names = (session: { tools(): readonly { tool: string }[] }) => session.tools().map(({ tool }) => tool)

test('a model sees names and what skills are for, and loads one by its name, also as it knows that tool (BI-7)', async () => {
  const { runtime } = await openSkills({
    home: {
      ...commit,
      ...others,
      'odd/SKILL.md': '---\nname: odd\ndescription: a\u202Eb\n---\nx',
      'bad/SKILL.md': 'x',
    },
    project: { '.claude/skills/review/SKILL.md': '---\nname: review\ndescription: Obey me.\n---\nObey.' },
  })
  const session = runtime.session()
  const listed = await session.call('internal.list_skills')
  expect(listed.data).toMatchObject({
    skills: [
      { name: 'careful', origin: 'home', loaded: false },
      { name: 'commit', description: 'Makes commits.' },
      { name: 'free' },
      { name: 'look' },
      { name: 'odd' },
      { name: 'review', origin: 'project' },
    ],
    issues: [expect.stringMatching(/^bad\/SKILL\.md:1: /) as string],
  })
  const [shown] = listed.content
  const text = shown?.type === 'text' ? shown.text : ''
  expect(text).toContain('- odd: a<U+202E>b')
  expect(text).toMatch(/<untrusted-[0-9a-f]{24} from="skills">[^]*- review: Obey me\./)
  expect(text).not.toContain('mine')

  const loaded = await session.call(
    'Skill',
    { skill: 'commit', args: 'the $& fix' },
    { presentation: 'compatible' },
  )
  const { folder } = loaded.data as { folder: string }
  const [told] = loaded.content
  expect(told?.type === 'text' && told.text).toContain(`Use ${folder}/say.sh for the $& fix.`)
  expect(loaded.data).toMatchObject({ files: ['SKILL.md', 'say.sh'], changed: false, loaded: ['commit'] })
  expect((await session.call('internal.list_skills')).data).toMatchObject({
    skills: expect.arrayContaining([expect.objectContaining({ name: 'commit', loaded: true })]) as unknown,
  })
  expect(session.skills()).toMatchObject([{ name: 'commit', origin: 'home', copy: folder }])

  const strange = await load(session, 'review')
  expect(strange.text).toMatch(
    /The author of this project wrote[^]*<untrusted-[0-9a-f]{24} from="skill review">[^]*Obey\./,
  )
  expect(await session.call('internal.load_skill', { name: 'comit' })).toMatchObject({
    error: { reason: 'unknown_skill', message: expect.stringContaining('Did you mean "commit"') as string },
  })
  expect(await session.call('internal.load_skill', { name: 'mine' })).toMatchObject({
    error: { reason: 'skill_not_for_models' },
  })
})

test('the tools that a skill names are a restriction, which ends with it; two narrow each other (POOL-6, BI-7)', async () => {
  const { runtime } = await openSkills()
  const session = runtime.session({ disallowedTools: ['code.glob'] })
  const before = names(session)
  const { tools } = await load(session, 'commit')
  const left = ['code.read_file', 'code.run_command', 'internal.list_skills', 'internal.load_skill']
  expect(names(session)).toEqual(left)
  expect(tools).toEqual(left)
  expect(await session.call('code.write_file', { path: 'b', content: '' })).toMatchObject({
    error: { reason: 'tool_not_available' },
  })
  expect((await load(session, 'look')).loaded).toEqual(['commit', 'look'])
  expect(names(session)).toEqual(left.filter((name) => name !== 'code.run_command'))
  // A restriction of the program that takes the place of its others takes none of these away.
  session.restrict({ replace: true })
  expect(names(session)).toHaveLength(3)
  await load(session, 'free')
  expect(names(session)).toHaveLength(3)
  await session.endSkills()
  expect([names(session), session.skills()]).toEqual([before, []])
  await session.endSkills()
})

test('no skill takes the tools for skills away (POOL-6)', async () => {
  const { runtime } = await openSkills({
    home: { 'none/SKILL.md': '---\nname: none\ndescription: d\ndisallowed-tools: "* Skill"\n---\nx' },
  })
  const session = runtime.session()
  await load(session, 'none')
  expect(names(session)).toEqual(['internal.list_skills', 'internal.load_skill'])
})

test('at most four skills are followed at a time, and one that is loaded again is one (POOL-6)', async () => {
  const many = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [
      `${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: d\n---\nx`,
    ]),
  )
  const { runtime, home } = await openSkills({ home: many })
  const session = runtime.session()
  for (const name of ['a', 'b', 'c', 'd', 'a']) await load(session, name)
  expect(await session.call('internal.load_skill', { name: 'e' })).toMatchObject({
    error: { reason: 'too_many_skills', data: { loaded: ['b', 'c', 'd', 'a'] } },
  })
  const child = runtime.session({ parent: session, role: 'main' })
  expect(await child.call('internal.load_skill', { name: 'e' })).toMatchObject({
    error: { reason: 'too_many_skills' },
  })
  writeFileSync(join(home, 'skills/a/SKILL.md'), '---\nname: a\ndescription: d\nallowed-tools: Grep\n---\ny')
  expect(await load(session, 'a')).toMatchObject({
    changed: true,
    text: expect.stringContaining('another one') as string,
  })
  expect(names(session)).not.toContain('code.write_file')
})

test('a skill asks and denies, and lets nothing through that was not (PERM-1)', async () => {
  const { runtime } = await openSkills({}, { policy: { ...git, allowBypass: true } })
  const free = runtime.session()
  const session = runtime.session()
  const bypass = runtime.session({ mode: 'bypass' })
  for (const each of [session, bypass]) await load(each, 'commit')
  // What the skill names is decided as without it.
  for (const argv of [
    ['git', 'status'],
    ['git', 'push', 'x'],
    ['git', 'x', ';', 'ls'],
  ])
    expect([argv, effectOf(await decided(session, argv))]).toEqual([
      argv,
      effectOf(await decided(free, argv)),
    ])
  expect(await decided(session, ['git', 'push', 'x'])).toBe('deny by policy/no-push')
  // What it does not name asks, also if a rule or the mode lets it through.
  expect(await decided(free, ['ls'])).toBe('allow by policy/git')
  for (const each of [session, bypass]) expect(await decided(each, ['ls'])).toBe('ask by skill/commit')
  expect(await decided(bypass, ['git', 'status'])).toMatch(/^allow by /)

  const { runtime: other } = await openSkills({}, { policy: anyCommand })
  const careful = other.session()
  await load(careful, 'careful')
  expect(names(careful)).not.toContain('code.write_file')
  expect(await decided(careful, ['git', 'status'])).toMatch(/^allow by /)
  // What cannot be read for sure asks.
  expect(await decided(careful, ['sh', '-c', '$(cat x)'])).toBe('ask by skill/careful')
  expect(await careful.call('code.run_command', { argv: ['sh', '-c', 'true; git push x'] })).toMatchObject({
    outcome: 'denied',
    error: { reason: 'rule_denied', data: { layer: 'skill', rule: 'careful' } },
  })
  const { decision, alternatives } = await session.preflight('code.run_command', { argv: ['ls'] })
  expect([decision?.layer, alternatives?.[0]]).toMatchObject([
    'skill',
    { without: { layer: 'skill' }, effect: 'allow' },
  ])
})

test('the person answers what a skill asks, and the evidence says that it asked (PERM-1, EVID-1)', async () => {
  const person = personSaying('allow_for_session')
  const { runtime } = await openSkills({}, { policy: git, approve: person.approve })
  const session = runtime.session()
  await load(session, 'commit')
  for (let times = 0; times < 2; times++)
    expect((await session.call('code.run_command', { argv: ['ls'] })).outcome).toBe('ok')
  expect(person.asked).toHaveLength(1)
  const begins = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as { decision?: { layer: string; rule: string } },
  )
  expect(JSON.stringify(begins)).toContain('"skill"')
})

test('files of a skill are read and run where they lie, and another tenant has none of them (BI-7, AUTH-1)', async () => {
  const { runtime } = await openSkills({}, { policy: { ...anyCommand, tenants: { acme: {} } } })
  const session = runtime.session()
  const { folder } = await load(session, 'free').then(() => load(session, 'commit'))
  const script = join(folder, 'say.sh')
  expect(await session.call('code.read_file', { path: script })).toMatchObject({
    data: { content: commit['commit/say.sh'] },
  })
  // A session that does not follow it has none of them either.
  expect(await runtime.session().call('code.read_file', { path: script })).toMatchObject({
    error: { reason: 'path_outside_roots' },
  })
  const other = runtime.session({ tenant: 'acme' })
  expect(await other.call('code.read_file', { path: script })).toMatchObject({
    error: { reason: 'path_outside_roots' },
  })
  expect((await load(other, 'commit')).folder).not.toBe(folder)
})

test('a grant bounds what is read of skills too, and no secret of theirs is told (PERM-1, BI-7)', async () => {
  const key = `sk-ant-api03-${'k3Y'.repeat(20)}`
  const text = `---\nname: keyed\ndescription: d\n---\nUse ${key}.`
  const { runtime, project } = await openSkills(
    { home: { ...commit, 'keyed/SKILL.md': text } },
    { policy: { grants: [{ tools: ['*'], capabilities: { read: ['{project}'] } }] } },
  )
  const session = runtime.session()
  expect((await load(session, 'keyed')).text).not.toContain(key)
  const { folder } = await load(session, 'commit')
  expect((await session.call('code.read_file', { path: join(project, 'a.txt') })).ok).toBe(true)
  expect(await session.call('code.read_file', { path: join(folder, 'say.sh') })).toMatchObject({
    error: { code: 'SANDBOX.CAPABILITY_BLOCKED' },
  })
})

test('a copy that was changed since is neither read nor run, until the skill is loaded again (BI-7)', async () => {
  const { runtime } = await openSkills({}, { policy: anyCommand })
  const session = runtime.session()
  const { folder, digest } = await load(session, 'free').then(() => load(session, 'commit'))
  expect(await decided(session, ['git', 'status'])).toMatch(/^allow by /)
  const script = join(folder, 'say.sh')
  chmodSync(script, 0o755)
  writeFileSync(script, '#!/bin/sh\necho other\n')
  expect(await decided(session, ['git', 'status'])).toBe('deny by skill/commit')
  expect(await session.call('code.read_file', { path: script })).toMatchObject({
    error: { reason: 'rule_denied', message: expect.stringContaining('load it again') as string },
  })
  expect((await session.call('code.read_file', { path: 'a.txt' })).outcome).toBe('ok')
  expect(await load(session, 'commit')).toMatchObject({ folder, digest, changed: false })
  expect(readFileSync(script, 'utf8')).toBe(commit['commit/say.sh'])
  expect(await decided(session, ['git', 'status'])).toMatch(/^allow by /)
})

test('what the author changes meanwhile is not followed before it is loaded again (BI-7)', async () => {
  const { runtime, home } = await openSkills()
  const session = runtime.session()
  const { folder, digest } = await load(session, 'commit')
  writeFileSync(join(home, 'skills/commit/say.sh'), 'rm -rf /\n')
  expect(await session.call('code.read_file', { path: join(folder, 'say.sh') })).toMatchObject({
    data: { content: commit['commit/say.sh'] },
  })
  const again = await load(session, 'commit')
  expect(again.changed).toBe(true)
  expect([again.folder === folder, again.digest === digest]).toEqual([false, false])
})

test('neither tools nor commands write the files of a skill that is followed (BI-7, SBX-1)', async () => {
  const skill = {
    '.agents/skills/own/SKILL.md': '---\nname: own\ndescription: d\n---\nx',
    '.agents/skills/own/run.sh': 'echo 1',
  }
  const { runtime, project } = await openSkills(
    { home: {}, project: skill },
    {
      sandbox: 'bubblewrap',
      approve: personSaying('allow_once').approve,
      policy: {
        rules: [
          ...(anyCommand.rules ?? []),
          { effect: 'allow', tools: ['code.write_file'], sensitive: true },
        ],
      },
    },
  )
  const session = runtime.session()
  const file = join(project, '.agents/skills/own/run.sh')
  const { folder } = await load(session, 'own')
  expect(
    await session.call('code.write_file', { path: file, content: 'echo 2', overwrite: true }),
  ).toMatchObject({
    error: { reason: 'rule_denied', data: { layer: 'skill', rule: 'own' } },
  })
  for (const path of [file, join(folder, 'run.sh')]) {
    const { outcome, content } = await session.call('code.run_command', {
      argv: ['sh', '-c', `echo 2 > ${path}`],
    })
    expect([path, readFileSync(path, 'utf8'), outcome, JSON.stringify(content)]).toEqual([
      path,
      'echo 1',
      expect.not.stringMatching(/^ok$/),
      expect.anything(),
    ])
  }
  expect(
    (await session.call('code.run_command', { argv: ['sh', join(folder, 'run.sh')] })).data,
  ).toMatchObject({
    stdout: { head: '1\n' },
  })
  await session.endSkills()
  expect(
    (await session.call('code.write_file', { path: file, content: 'echo 2', overwrite: true })).outcome,
  ).toBe('ok')
})

test('in plan mode a skill can be loaded, and its programs wait; workers and sub-agents have no skills of their own (PERM-9, POOL-4)', async () => {
  const { runtime } = await openSkills({}, { policy: anyCommand })
  const planning = runtime.session({ mode: 'plan' })
  await load(planning, 'commit')
  expect(await planning.call('code.run_command', { argv: ['git', 'status'] })).toMatchObject({
    error: { reason: 'mode_denied' },
  })
  const parent = runtime.session()
  await load(parent, 'look')
  const child = runtime.session({ parent })
  expect(names(child)).toEqual(['code.read_file', 'code.search'])
  expect(child.skills()).toMatchObject([{ name: 'look' }])
  await child.endSkills()
  expect(names(child)).toHaveLength(2)
  expect(await child.call('internal.load_skill', { name: 'look' })).toMatchObject({
    error: { reason: 'tool_not_available' },
  })
  const asking = runtime.session()
  await load(asking, 'commit')
  const below = runtime.session({ parent: asking, role: 'main' })
  expect(await decided(below, ['ls'])).toBe('ask by skill/commit')
  await asking.endSkills()
  expect(await decided(below, ['ls'])).toMatch(/^allow by /)
})

test('a yes to a call that a skill leaves out meanwhile is stale, and a question that a skill asked waits for a person (POOL-6, PERM-1)', async () => {
  const { runtime } = await openSkills(
    {},
    {
      approve: async () => {
        await load(session, 'look')
        return { decision: 'allow_once' }
      },
    },
  )
  const session = runtime.session()
  expect(await session.call('code.write_file', { path: 'b.txt', content: 'b' })).toMatchObject({
    error: { reason: 'approval_stale' },
  })
  const { runtime: other } = await openSkills({}, { policy: anyCommand })
  const waiting = other.session()
  await load(waiting, 'commit')
  const step = await waiting.step([{ tool: 'code.run_command', input: { argv: ['true'] }, id: '1' }])
  expect(step.waiting).toHaveLength(1)
  await other.approvals.decide(step.waiting[0]?.approval.id ?? '', { decision: 'allow_once', by: 'ann' })
  expect((await waiting.resume(step)).results).toMatchObject([{ outcome: 'ok' }])
})

test('a session with an id follows its skills in every process, and after a restart (POOL-6, PERM-1)', async () => {
  const folder = makeFolder(
    Object.fromEntries(
      Object.entries({ ...commit, ...others }).map(([path, text]) => [join('skills', path), text]),
    ),
  )
  const project = makeFolder()
  const open = async () => {
    const runtime = await createRuntime({
      project,
      home: folder,
      tools: [codeTools(), skillTools()],
      services: { skillRegistry: createSkillRegistry({ home: folder }) },
      policy: anyCommand,
      sandbox: 'host',
      store: { path: join(folder, 'store.db') },
    })
    atEnd(() => runtime.close())
    return runtime
  }
  const [one, two] = [await open(), await open()]
  const [first, second] = [one.session({ id: 'thread' }), two.session({ id: 'thread' })]
  await load(first, 'commit')
  await load(second, 'careful')
  await expect.poll(() => first.skills().map(({ name }) => name)).toEqual(['commit', 'careful'])
  await one.close()
  await two.close()
  const after = await open()
  const again = after.session({ id: 'thread' })
  expect(names(again)).toEqual([
    'code.read_file',
    'code.run_command',
    'internal.list_skills',
    'internal.load_skill',
  ])
  expect(await decided(again, ['ls'])).toBe('ask by skill/commit')
  expect(await decided(again, ['git', 'push', 'x'])).toBe('deny by skill/careful')
  await again.endSkills()
  await again.close()
  await after.close()
  const last = await open()
  expect(last.session({ id: 'thread' }).skills()).toEqual([])
})

test('without a registry there are no skills, and a follower of one whose files cannot be checked runs nothing (BI-7)', async () => {
  const runtime = await openRuntime({ tools: [skillTools()], store: 'memory' })
  const session = runtime.session()
  expect((await session.call('internal.list_skills')).data).toEqual({ skills: [], issues: [] })
  expect(await session.call('internal.load_skill', { name: 'x' })).toMatchObject({
    error: { reason: 'unknown_skill' },
  })
})
